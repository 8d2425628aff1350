package model_test

import (
	"errors"
	"testing"

	"github.com/streamctl/streamctl/internal/model"
)

// What a name means must not depend on whether the one whose whole name it is
// runs now: "clicks-1" is never "clicks-10".
func TestPrefixDoesNotEndWithinANumber(t *testing.T) {
	const uuid = "11111111-1111-4111-8111-111111111111"
	g := &model.Group{ID: "clicks", Instances: []model.Instance{
		{ID: "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001", Name: "clicks-10", Members: []model.Member{
			{ID: "clicks-10-w0-90019001900190019001900190019001", Name: "clicks-10/w0", ClientID: "clicks-10-w0"},
		}},
		{ID: uuid, Name: "app", Members: []model.Member{
			{ID: "app-" + uuid + "-StreamThread-12-consumer-" + uuid, Name: "app/T12", ClientID: "app-" + uuid + "-StreamThread-12-consumer", Thread: 12},
		}},
	}}
	for name, want := range map[string]string{
		"clicks-1": "", "app-" + uuid + "-StreamThread-1": "",
		"clic": "clicks-10", "clicks-10": "clicks-10", "clicks-10-w0-900": "clicks-10",
		"app-1": "app", "app-11111111-11": "app", "app-" + uuid[:35]: "app", "1111": "app",
		"app-" + uuid + "-StreamThread-12-consumer-1111": "app",
	} {
		in, err := model.ResolveInstance(g, name)
		_, m, errMember := model.ResolveMember(g, name)
		if want == "" {
			_, missing := errors.AsType[*model.NotFoundError](err)
			_, missingMember := errors.AsType[*model.NotFoundError](errMember)
			if !missing || !missingMember {
				t.Errorf("%q: got %v, %v and %v, %v", name, in, err, m, errMember)
			}
			continue
		}
		if err != nil || in.Name != want || errMember != nil || in.Members[0].ID != m.ID {
			t.Errorf("%q: got %v, %v and %v, %v, want %s", name, in, err, m, errMember, want)
		}
	}
}

// An instance that is gone keeps its name: a prefix of the id of one that runs
// means that one only where nothing else is called so.
func TestPrefixYieldsToTheNameOfOneThatIsGone(t *testing.T) {
	runs := model.Instance{ID: "7b9f2c10-4d53-4f0e-9a41-0c5d1be0a001", Name: "pod-aa", Members: []model.Member{
		{ID: "pod-aa-w0-90019001900190019001900190019001", Name: "pod-aa/w0", ClientID: "pod-aa-w0"},
	}}
	status := model.InstanceStatus{Instance: "aaaaaaaa-4d53-4f0e-9a41-0c5d1be0a001", Gone: true}
	for what, g := range map[string]*model.Group{
		"client id": {Control: &model.Control{Status: []model.InstanceStatus{status}}},
		"host":      {Control: &model.Control{Status: []model.InstanceStatus{status}}},
		"mark":      {Marks: []model.Mark{{Instance: status.Instance, Name: "pod-a", Stale: true}}},
	} {
		g.ID, g.Instances = "clicks", []model.Instance{runs}
		switch what {
		case "client id":
			g.Control.Status[0].ClientID = "pod-a"
		case "host":
			g.Control.Status[0].Host = "pod-a"
		}
		for _, name := range []string{"pod-aa", "pod-aa-w0-9", "7b9f2c10"} {
			if in, err := model.ResolveInstance(g, name); err != nil || in.Name != "pod-aa" {
				t.Errorf("%s, %q: got %v, %v", what, name, in, err)
			}
		}
		in, err := model.ResolveInstance(g, "pod-a")
		if _, missing := errors.AsType[*model.NotFoundError](err); !missing {
			t.Errorf("%s: got %v, %v", what, in, err)
		}
		_, m, err := model.ResolveMember(g, "pod-a")
		if _, missing := errors.AsType[*model.NotFoundError](err); !missing {
			t.Errorf("%s: got %v, %v", what, m, err)
		}
		if gone := model.ResolveGone(g, "pod-a"); len(gone) != 1 || gone[0].ID != status.Instance {
			t.Errorf("%s: got %v", what, gone)
		}
		g.Control, g.Marks = nil, nil
		if in, err := model.ResolveInstance(g, "pod-a"); err != nil || in.Name != "pod-aa" {
			t.Errorf("%s, forgotten: got %v, %v", what, in, err)
		}
	}
}
