package controltopic

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/errs"
)

// DeniedError says that the cluster does not allow something with the control
// topic.
type DeniedError struct {
	Topic string
	Doing string // "read", "write to", "create"
	Needs string // the operation to allow: "READ", "WRITE", "CREATE"
	Err   error  // Kafka's own
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("not allowed to %s the control topic %q: it needs %s on topic %q", e.Doing, e.Topic, e.Needs, e.Topic)
}

// Unwrap gives Kafka's own error.
func (e *DeniedError) Unwrap() error { return e.Err }

// defaultMessageBytes is max.message.bytes of a topic where nobody has changed
// it: a record of control.MaxValue fits.
const defaultMessageBytes = 1_048_588

// doing is what is done with the topic.
type doing string

const (
	reading  doing = "read"
	writing  doing = "write to"
	creating doing = "create"
)

// needs is the operation that an ACL must allow for it.
func (d doing) needs() string {
	switch d {
	case writing:
		return "WRITE"
	case creating:
		return "CREATE"
	}
	return "READ"
}

// explain makes a typed error of a refusal, and names the topic in all others.
func explain(topic string, what doing, err error) error {
	switch {
	case err == nil:
		return nil
	case isDenied(err):
		d := &DeniedError{Topic: topic, Doing: string(what), Needs: what.needs(), Err: err}
		return errs.WithHint(d, hint(topic, what))
	case errors.Is(err, errMissing):
		return fmt.Errorf("%s the control topic %q: it does not exist", what, topic)
	case errors.Is(err, kerr.MessageTooLarge), errors.Is(err, kerr.RecordListTooLarge):
		return errs.WithHint(fmt.Errorf("%s the control topic %q: %w", what, topic, err),
			fmt.Sprintf("set it higher: kafka-configs.sh --alter --topic %s --add-config max.message.bytes=%d; statuses of large groups need as much", topic, defaultMessageBytes))
	}
	return fmt.Errorf("%s the control topic %q: %w", what, topic, err)
}

func isDenied(err error) bool {
	return errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.ClusterAuthorizationFailed)
}

func hint(topic string, what doing) string {
	if what == creating {
		return fmt.Sprintf("ask for an ACL that allows CREATE, DESCRIBE, READ and WRITE on topic %q; one on the prefix that the app's own topics have covers it", topic)
	}
	return fmt.Sprintf("ask for an ACL that allows DESCRIBE and %s on topic %q; one on the prefix that the app's own topics have covers it", what.needs(), topic)
}
