package control

import (
	"encoding/hex"
	"fmt"

	"github.com/streamctl/streamctl/internal/model"
)

// IsUUID reports whether s is a UUID in lower case: there are records only for
// instances that have one for a name.
func IsUUID(s string) bool { return model.IsUUID(s) }

// UUID writes 128 random bits as a UUID of version 4, which takes the place of
// six of them (RFC 9562, section 5.4).
func UUID(random [16]byte) string {
	random[6], random[8] = random[6]&0x0f|0x40, random[8]&0x3f|0x80
	h := hex.EncodeToString(random[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func notUUID(instance string) error {
	return fmt.Errorf("instance %q: there are records only for instances named by a UUID in lower case", instance)
}
