package lab

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// conn is one connection to a broker that speaks any client id: a member of a
// replayed group must be listed under the client id that was recorded. It
// sends one request at a time and is not safe for concurrent use.
type conn struct {
	c    net.Conn
	corr int32
}

func dial(ctx context.Context, addr string) (*conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{c: c}, nil
}

func (c *conn) close() { _ = c.c.Close() }

// maxResponse bounds one answer of the embedded broker.
const maxResponse = 64 << 20

// request sends req as clientID and reads the answer into its response kind.
// The request's version must be set. A context that ends cuts the connection's
// deadline short, which leaves the connection unusable.
func (c *conn) request(ctx context.Context, clientID string, req kmsg.Request) (kmsg.Response, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	c.corr++
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(clientID))
	if _, err := c.c.Write(f.AppendRequest(nil, req, c.corr)); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	var size [4]byte
	if _, err := io.ReadFull(c.c, size[:]); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	n := int(int32(binary.BigEndian.Uint32(size[:])))
	if n < 4 || n > maxResponse {
		return nil, fmt.Errorf("answer of %d bytes", n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c.c, body); err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	if got := int32(binary.BigEndian.Uint32(body)); got != c.corr {
		return nil, fmt.Errorf("answer to request %d, want %d", got, c.corr)
	}
	body = body[4:]
	if req.IsFlexible() {
		if len(body) == 0 || body[0] != 0 {
			return nil, errors.New("answer header has tags")
		}
		body = body[1:]
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	return resp, resp.ReadFrom(body)
}
