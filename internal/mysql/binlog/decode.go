// SPDX-License-Identifier: Apache-2.0

package binlog

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

// id is one GTID.
type id struct {
	uuid   [16]byte
	tag    string
	number int64
}

// decodeGTID decodes the classic event: flags, UUID, number; what follows has grown with each version and is not needed.
func decodeGTID(data []byte) (id, error) {
	c := cursor{data: data}
	c.byte()
	i := id{uuid: [16]byte(c.bytes(16)), number: int64(c.uint64())} //nolint:gosec // checked by gtid
	return c.gtid(i)
}

// decodeTagged decodes the event of 8.3 and later for GTIDs with a tag, a message of the server's library
// mysql::serialization: version, size, last field that must be known, then fields, each after its number.
func decodeTagged(data []byte) (id, error) {
	c := cursor{data: data}
	c.varint()
	c.varint()
	c.varint()
	var i id
	for want := range uint64(4) {
		if c.varint() != want {
			return id{}, fmt.Errorf("%w: tagged GTID lacks field %d", ErrDamaged, want)
		}
		switch want {
		case 0:
			c.varint() // flags
		case 1:
			for at := range i.uuid {
				i.uuid[at] = byte(c.varint() & math.MaxUint8)
			}
		case 2:
			signed := c.varint()
			i.number = int64(signed>>1) ^ -int64(signed&1)
		case 3:
			i.tag = string(c.bytes(int(c.varint() & math.MaxUint8)))
		}
	}
	return c.gtid(i)
}

func (c *cursor) gtid(i id) (id, error) {
	if c.short || i.number < 1 {
		return id{}, fmt.Errorf("%w: GTID with number %d", ErrDamaged, i.number)
	}
	return i, nil
}

// decodePrevious decodes Previous_gtids, in the classic format or in that for tags, where each pair of UUID and tag is
// an entry of its own.
func decodePrevious(data []byte) (gtid.Set, error) {
	d := cursor{data: data}
	head := d.uint64()
	tagged := head>>56 == 1
	count := head
	if tagged {
		count = head << 8 >> 16 // bytes 1 to 6
	}
	var b strings.Builder
	for range count {
		if d.short {
			break
		}
		uuid, tag := d.bytes(16), ""
		if tagged {
			tag = string(d.bytes(int(d.varint() & math.MaxUint8)))
		}
		decodeIntervals(&d, [16]byte(uuid), tag, &b)
	}
	if d.short {
		return gtid.Set{}, fmt.Errorf("%w: Previous_gtids ends early", ErrDamaged)
	}
	set, err := gtid.Parse(b.String())
	if err != nil {
		return gtid.Set{}, fmt.Errorf("%w: Previous_gtids: %w", ErrDamaged, err)
	}
	return set, nil
}

func decodeIntervals(d *cursor, uuid [16]byte, tag string, b *strings.Builder) {
	intervals := d.uint64()
	if d.short || intervals == 0 {
		return
	}
	b.WriteString(uuidText(uuid))
	if tag != "" {
		b.WriteString(":" + tag)
	}
	for range intervals {
		first, end := d.uint64(), d.uint64()
		if d.short {
			return
		}
		fmt.Fprintf(b, ":%d-%d", first, end-1)
	}
	b.WriteByte(',')
}

func uuidText(u [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// cursor reads little-endian fields and remembers that the data was too short.
type cursor struct {
	data  []byte
	short bool
}

func (c *cursor) bytes(n int) []byte {
	if n > len(c.data) {
		c.short = true
		return make([]byte, n)
	}
	b := c.data[:n]
	c.data = c.data[n:]
	return b
}

func (c *cursor) byte() byte { return c.bytes(1)[0] }

// varint reads an integer of 1 to 9 bytes: the ones at the low end of the first byte tell how many bytes follow.
func (c *cursor) varint() uint64 {
	first := c.byte()
	more := bits.TrailingZeros8(^first)
	var b [8]byte
	if more >= 8 {
		copy(b[:], c.bytes(8))
		return binary.LittleEndian.Uint64(b[:])
	}
	copy(b[:], c.bytes(more))
	// The rest of the first byte is the low part, the bytes that follow are the high part.
	return uint64(first)>>(more+1) | binary.LittleEndian.Uint64(b[:])<<(7-more)
}

func (c *cursor) uint64() uint64 { return binary.LittleEndian.Uint64(c.bytes(8)) }

// decodeQuery returns the statement of a query event: thread 4, time 4, schema length 1, error 2, status length 2,
// then status variables, schema, a zero byte, the statement.
func decodeQuery(data []byte) (string, error) {
	const post = 13
	if len(data) < post {
		return "", fmt.Errorf("%w: query of %d bytes", ErrDamaged, len(data))
	}
	at := post + int(binary.LittleEndian.Uint16(data[11:])) + int(data[8]) + 1
	if at > len(data) {
		return "", fmt.Errorf("%w: query of %d bytes", ErrDamaged, len(data))
	}
	return string(data[at:]), nil
}

type statementClass int

const (
	classChange   statementClass = iota // whatever is not known to be one of the others
	classBegin                          // more of the transaction follows
	classEnd                            // the transaction ends here
	classHarmless                       // its effect does not depend on the binlog
)

// class sorts a statement by its first word.
func class(statement string) statementClass {
	word, rest, _ := strings.Cut(strings.TrimSpace(statement), " ")
	switch strings.ToUpper(strings.TrimSuffix(word, ";")) {
	case "BEGIN":
		return classBegin
	case "XA":
		return classOfXA(rest)
	case "COMMIT", "ROLLBACK":
		if strings.HasPrefix(strings.ToUpper(rest), "TO") {
			return classHarmless // ROLLBACK TO a savepoint, inside a transaction
		}
		return classEnd
	case "SAVEPOINT", "ANALYZE", "OPTIMIZE", "REPAIR", "FLUSH":
		return classHarmless
	}
	return classChange
}

// classOfXA: XA START opens a group that XA_PREPARE closes; XA COMMIT and ROLLBACK stand alone; XA END says nothing.
func classOfXA(rest string) statementClass {
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	switch strings.ToUpper(word) {
	case "START", "BEGIN":
		return classBegin
	case "END":
		return classHarmless
	}
	return classChange
}

// collector gathers GTIDs that come mostly in order, without building a set for each.
type collector struct {
	runs map[source][]run
}

type source struct {
	uuid [16]byte
	tag  string
}

type run struct{ first, last int64 }

func newCollector() *collector { return &collector{runs: map[source][]run{}} }

func (c *collector) add(i id) {
	key := source{uuid: i.uuid, tag: i.tag}
	list := c.runs[key]
	if n := len(list); n > 0 && list[n-1].last+1 == i.number {
		list[n-1].last = i.number
		return
	}
	c.runs[key] = append(list, run{i.number, i.number})
}

func (c *collector) set() (gtid.Set, error) {
	var b strings.Builder
	for src, list := range c.runs {
		b.WriteString(uuidText(src.uuid))
		if src.tag != "" {
			b.WriteString(":" + src.tag)
		}
		for _, r := range list {
			fmt.Fprintf(&b, ":%d-%d", r.first, r.last)
		}
		b.WriteByte(',')
	}
	return gtid.Parse(b.String())
}
