package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Order is what a running lab is asked to do from outside.
type Order struct {
	Do    OrderKind `json:"do"`
	Names []string  `json:"names"`
	Count int       `json:"count"` // add: how many, where no names are given
	Value int       `json:"value"` // restore-rate
}

// OrderKind says what an order is.
type OrderKind string

// The orders.
const (
	OrderStatus      OrderKind = "status"
	OrderAdd         OrderKind = "add"
	OrderKill        OrderKind = "kill"
	OrderStop        OrderKind = "stop"
	OrderPause       OrderKind = "pause"
	OrderResume      OrderKind = "resume"
	OrderRestart     OrderKind = "restart"
	OrderRestoreRate OrderKind = "restore-rate"
)

// Answer is what became of an order.
type Answer struct {
	Names  []string `json:"names"` // of the instances that it was carried out on; in the order given
	Error  string   `json:"error"` // what failed; "" when all went well
	Status Status   `json:"status"`
}

const (
	maxOrder  = 64 << 10 // bytes of an order
	orderTime = 20 * time.Second
)

// Serve lets the job be steered through a socket in this directory until the
// lab is closed.
func (j *Job) Serve(ctx context.Context, dir string) error {
	_, port, err := net.SplitHostPort(j.l.Bootstrap())
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	l, err := listen(ctx, dir, n)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: http.HandlerFunc(j.handle), ReadTimeout: 5 * time.Second, WriteTimeout: 2 * orderTime}
	j.work.Go(func() { _ = s.Serve(l) })                // ends with Close
	j.work.Go(func() { <-j.ctx.Done(); _ = s.Close() }) // which removes the socket too
	return nil
}

func (j *Job) handle(w http.ResponseWriter, r *http.Request) {
	var o Order
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil {
		http.Error(w, "not an order: "+err.Error(), http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), orderTime)
	defer cancel()
	defer context.AfterFunc(j.ctx, cancel)() // an order ends with the lab
	a := Answer{Names: []string{}}
	var err error
	if a.Names, err = j.carryOut(ctx, o); err != nil {
		a.Error = err.Error()
	}
	a.Status = j.Status()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a) // whoever asked is gone
}

// carryOut does what an order asks for, name after name, and says for which it
// was done.
func (j *Job) carryOut(ctx context.Context, o Order) (done []string, err error) {
	one := func(string) error { return fmt.Errorf("order %q is not known: is the lab of another version?", o.Do) }
	switch o.Do {
	case OrderStatus:
		return nil, nil
	case OrderRestoreRate:
		j.SetRestoreRate(max(0, o.Value))
		return nil, nil
	case OrderAdd:
		if len(o.Names) == 0 {
			return j.Add(ctx, min(max(o.Count, 1), maxPods+1))
		}
		return j.addNamed(ctx, o.Names)
	case OrderKill:
		one = j.Kill
	case OrderStop:
		one = func(n string) error { return j.Stop(ctx, n) }
	case OrderPause:
		one = j.Pause
	case OrderResume:
		one = j.Resume
	case OrderRestart:
		one = func(n string) error { return j.Restart(ctx, n) }
	}
	var all []error
	for _, n := range o.Names {
		if err := one(n); err != nil {
			all = append(all, err)
			continue
		}
		done = append(done, n)
	}
	return done, errors.Join(all...)
}
