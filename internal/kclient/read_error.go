package kclient

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/streamctl/streamctl/internal/errs"
	"github.com/streamctl/streamctl/internal/snapshot"
)

// addError notes that something could not be read; the same object and code
// once.
func (r *run) addError(e snapshot.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addErrorLocked(e)
}

func (r *run) addErrorLocked(e snapshot.Error) {
	for _, have := range r.s.Errors {
		if have.Object == e.Object && have.Code == e.Code && (e.Code != "" || have.Text == e.Text) {
			return
		}
	}
	r.s.Errors = append(r.s.Errors, e)
}

func (r *run) setOption(key, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setOptionLocked(key, value)
}

func (r *run) setOptionLocked(key, value string) {
	if r.s.Options == nil {
		r.s.Options = map[string]string{}
	}
	r.s.Options[key] = value
}

// readError makes the entry for err: Kafka's name where there is one, and the
// hint that came with it.
func readError(object, what string, err error) snapshot.Error {
	e := snapshot.Error{Object: object, Text: what + ": " + err.Error()}
	if ke, ok := errors.AsType[*kerr.Error](err); ok {
		e.Code, e.Text = ke.Message, what+": "+ke.Message
	}
	if hints := errs.Hints(err); len(hints) > 0 {
		e.Hint = hints[0]
	}
	return e
}

// whileAsking puts what was asked for before an error that only has Kafka's
// name; the others tell themselves.
func whileAsking(what string, err error) error {
	if _, ok := errors.AsType[*kerr.Error](err); ok {
		return fmt.Errorf("%s: %w", what, err)
	}
	return err
}

// groupError is the entry for a group that answered with an error.
func groupError(group, what string, code int16, message *string) snapshot.Error {
	e := snapshot.Error{Object: "group " + group, Code: codeName(code), Hint: groupHint(group, code)}
	e.Text = fmt.Sprintf("%s %q: %s", what, group, e.Code)
	if message != nil && *message != "" {
		e.Text += ": " + *message
	}
	return e
}

func groupHint(group string, code int16) string {
	switch code {
	case kerr.GroupAuthorizationFailed.Code:
		return fmt.Sprintf("needs DESCRIBE on group %q", group)
	case kerr.TopicAuthorizationFailed.Code:
		return fmt.Sprintf("needs DESCRIBE on all topics of the group: its sources and the prefix %q", group+"-")
	case kerr.NotCoordinator.Code, kerr.CoordinatorLoadInProgress.Code, kerr.CoordinatorNotAvailable.Code:
		return "the group's coordinator is moving or loading: raise --timeout or try again"
	}
	return ""
}

func topicHint(topic string) string { return fmt.Sprintf("needs DESCRIBE on topic %q", topic) }

// codeName is Kafka's name of an error code.
func codeName(code int16) string {
	if code == 0 {
		return ""
	}
	if e := kerr.TypedErrorForCode(code); e != nil && e.Code == code {
		return e.Message
	}
	return fmt.Sprintf("ERROR_%d", code)
}

// codeOf is the number for an error of a request: Kafka's own, or
// REQUEST_TIMED_OUT and NETWORK_EXCEPTION for what never reached Kafka.
func codeOf(err error) int16 {
	if ke, ok := errors.AsType[*kerr.Error](err); ok {
		return ke.Code
	}
	if isTimeout(err) {
		return kerr.RequestTimedOut.Code
	}
	return kerr.NetworkException.Code
}

func isTimeout(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) {
		return true
	}
	ne, ok := errors.AsType[net.Error](err)
	return ok && ne.Timeout()
}

// isUnsupported reports that the broker does not know the request; kgo has no
// exported error for it.
func isUnsupported(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "broker is too old") || strings.Contains(err.Error(), "request key is unknown"))
}

// isTooLarge reports an answer that is larger than kgo takes.
func isTooLarge(err error) bool { return strings.Contains(err.Error(), "BrokerMaxReadBytes") }

// isPermanent reports an error of reaching a broker that no second try mends.
func isPermanent(err error) bool {
	d, ok := errors.AsType[*net.DNSError](err)
	return ok && d.IsNotFound || errors.Is(err, kerr.SaslAuthenticationFailed)
}

// isCoordinatorError reports the codes that mean: ask again, maybe elsewhere.
func isCoordinatorError(code int16) bool {
	return code == kerr.NotCoordinator.Code || code == kerr.CoordinatorLoadInProgress.Code || code == kerr.CoordinatorNotAvailable.Code
}

// isRefusal reports an authorisation error.
func isRefusal(code int16) bool {
	return code == kerr.GroupAuthorizationFailed.Code || code == kerr.TopicAuthorizationFailed.Code || code == kerr.ClusterAuthorizationFailed.Code
}
