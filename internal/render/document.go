package render

import (
	"encoding"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A document is walked once, the same way for JSON and YAML: struct fields by
// their json names, sorted; map keys sorted; nil pointers and nil byte slices
// null; nil lists and maps empty; text marshalers as text; times in RFC 3339,
// UTC. A value of type int64 is a 64-bit integer of the contract, all other
// integers are small.
type sink interface {
	null()
	boolean(bool)
	integer(n int64, wide bool)
	float(float64)
	text(string)
	openObject(n int)
	key(string)
	closeObject()
	openList(n int)
	item()
	closeList()
}

type walker struct {
	out   sink
	plans map[reflect.Type][]planField

	timeType, textType reflect.Type
}

type planField struct {
	name  string
	index []int
}

func newWalker(out sink) *walker {
	return &walker{
		out: out, plans: map[reflect.Type][]planField{},
		timeType: reflect.TypeFor[time.Time](), textType: reflect.TypeFor[encoding.TextMarshaler](),
	}
}

func (w *walker) walk(v reflect.Value) error {
	if !v.IsValid() {
		w.out.null()
		return nil
	}
	t := v.Type()
	if t == w.timeType {
		w.out.text(v.Interface().(time.Time).UTC().Format(time.RFC3339Nano))
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			w.out.null()
			return nil
		}
		return w.walk(v.Elem())
	}
	if t.Implements(w.textType) {
		b, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return err
		}
		w.out.text(string(b))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		w.out.text(v.String())
	case reflect.Bool:
		w.out.boolean(v.Bool())
	case reflect.Int64:
		w.out.integer(v.Int(), true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32:
		w.out.integer(v.Int(), false)
	case reflect.Float64, reflect.Float32:
		w.out.float(v.Float())
	case reflect.Struct:
		return w.object(v)
	case reflect.Map:
		return w.mapping(v)
	case reflect.Slice, reflect.Array:
		return w.list(v)
	default:
		return fmt.Errorf("a document cannot hold a %s", t)
	}
	return nil
}

func (w *walker) object(v reflect.Value) error {
	plan := w.plan(v.Type())
	w.out.openObject(len(plan))
	for _, f := range plan {
		w.out.key(f.name)
		fv := v
		for _, i := range f.index {
			fv = fv.Field(i)
		}
		if err := w.walk(fv); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	w.out.closeObject()
	return nil
}

func (w *walker) mapping(v reflect.Value) error {
	if v.Type().Key().Kind() != reflect.String {
		return fmt.Errorf("a document cannot hold a %s", v.Type())
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	w.out.openObject(len(keys))
	for _, k := range keys {
		w.out.key(k.String())
		if err := w.walk(v.MapIndex(k)); err != nil {
			return err
		}
	}
	w.out.closeObject()
	return nil
}

func (w *walker) list(v reflect.Value) error {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		if v.IsNil() {
			w.out.null()
		} else {
			w.out.text(base64.StdEncoding.EncodeToString(v.Bytes()))
		}
		return nil
	}
	n := v.Len()
	w.out.openList(n)
	for i := range n {
		w.out.item()
		if err := w.walk(v.Index(i)); err != nil {
			return err
		}
	}
	w.out.closeList()
	return nil
}

// plan lists the fields of a struct with those of embedded structs, sorted by
// name. An outer field hides one of the same name further in.
func (w *walker) plan(t reflect.Type) []planField {
	if p, ok := w.plans[t]; ok {
		return p
	}
	var fields []planField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for _, in := range w.plan(f.Type) {
				fields = append(fields, planField{name: in.name, index: append([]int{i}, in.index...)})
			}
		case f.IsExported() && name != "":
			fields = append(fields, planField{name: name, index: []int{i}})
		}
	}
	slices.SortStableFunc(fields, func(a, b planField) int {
		if c := strings.Compare(a.name, b.name); c != 0 {
			return c
		}
		return len(a.index) - len(b.index)
	})
	fields = slices.CompactFunc(fields, func(a, b planField) bool { return a.name == b.name })
	w.plans[t] = fields
	return fields
}
