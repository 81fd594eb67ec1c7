// SPDX-License-Identifier: Apache-2.0

package binlog

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

const (
	headerSize   = 19
	checksumSize = 4
	// checksumAt is where the format description says which checksum follows, from its end: the byte before its own
	// checksum, which it always has.
	checksumAt = checksumSize + 1
	// maxBody bounds what is read into memory of one event that is looked into.
	maxBody = 64 << 20
)

// eventType is the kind of an event (MySQL source documentation, mysql::binlog::event::Log_event_type).
type eventType = byte

const (
	eventUnknown     eventType = 0
	eventQuery       eventType = 2
	eventFormat      eventType = 15
	eventXID         eventType = 16
	eventTableMap    eventType = 19
	eventRowsV1      eventType = 23 // write, update, delete
	eventRowsV2      eventType = 30 // write, update, delete
	eventGTID        eventType = 33
	eventPrevious    eventType = 35
	eventXAPrepare   eventType = 38
	eventPartialRows eventType = 39
	eventPayload     eventType = 40
	eventTagged      eventType = 42
)

// fileScan reads one file.
type fileScan struct {
	found, substantial *collector

	previous  gtid.Set
	truncated bool

	checksums bool // events end in a checksum
	current   tx
}

// tx is the transaction being read.
type tx struct {
	open        bool
	id          id
	began       bool // BEGIN was seen: it ends with COMMIT or an XID
	substantial bool
}

func (s *fileScan) scan(path string) error {
	f, err := os.Open(path) //nolint:gosec // a file of our own datadir
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	r, err := newReader(f)
	if err != nil {
		return err
	}
	if r.left < 4 {
		s.truncated = true // made, and not yet begun
		return nil
	}
	magic, err := r.read(4)
	if err != nil {
		return err
	}
	switch string(magic) {
	case "\xfebin":
	case "\xfdbin":
		return ErrEncrypted
	default:
		return fmt.Errorf("%w: no binlog begins so", ErrDamaged)
	}
	for r.left > 0 {
		more, err := s.event(r)
		if err != nil {
			return err
		}
		if !more {
			break
		}
	}
	s.truncated = s.truncated || s.current.open
	return nil
}

// event reads one event; more is false where the file ends inside it.
func (s *fileScan) event(r *reader) (more bool, err error) {
	if r.left < headerSize {
		s.truncated = true
		return false, nil
	}
	raw, err := r.read(headerSize)
	if err != nil {
		return false, err
	}
	kind := raw[4]
	body := int64(binary.LittleEndian.Uint32(raw[9:])) - headerSize
	if body < 0 || body > r.left || kind == eventUnknown {
		s.truncated = true // zeros or a half-written event: what a node reset leaves at the end
		return false, nil
	}
	if !wanted(kind) {
		s.note(kind)
		return true, r.skip(body)
	}
	if body > maxBody {
		return false, fmt.Errorf("%w: event %d of %d bytes", ErrDamaged, kind, body)
	}
	data, err := r.read(int(body))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		s.truncated = true
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, s.look(kind, data)
}

// wanted tells which events are read and not skipped.
func wanted(kind eventType) bool {
	switch kind {
	case eventFormat, eventPrevious, eventGTID,
		eventTagged, eventQuery:
		return true
	}
	return false
}

// note takes in an event whose kind says enough.
func (s *fileScan) note(kind eventType) {
	switch kind {
	case eventXID, eventXAPrepare, eventPayload:
		s.current.substantial = true
		s.end()
	case eventTableMap, eventRowsV1, eventRowsV1 + 1, eventRowsV1 + 2, eventRowsV2, eventRowsV2 + 1, eventRowsV2 + 2, eventPartialRows:
		s.current.substantial = true
	}
}

func (s *fileScan) look(kind eventType, data []byte) error {
	if kind == eventFormat {
		if len(data) < checksumAt {
			return fmt.Errorf("%w: format description of %d bytes", ErrDamaged, len(data))
		}
		s.checksums = data[len(data)-checksumAt] == 1
		return nil
	}
	if s.checksums {
		if len(data) < checksumSize {
			return fmt.Errorf("%w: event %d of %d bytes", ErrDamaged, kind, len(data))
		}
		data = data[:len(data)-checksumSize]
	}
	switch kind {
	case eventPrevious:
		set, err := decodePrevious(data)
		s.previous = set
		return err
	case eventGTID, eventTagged:
		decode := decodeGTID
		if kind == eventTagged {
			decode = decodeTagged
		}
		id, err := decode(data)
		// A GTID before the end of the transaction before: a receiver that lost its source threw that away, and the
		// whole transaction comes again.
		s.current = tx{open: true, id: id}
		return err
	case eventQuery:
		return s.query(data)
	}
	return nil
}

func (s *fileScan) query(data []byte) error {
	statement, err := decodeQuery(data)
	if err != nil {
		return err
	}
	switch class(statement) {
	case classBegin:
		s.current.began = true
	case classEnd:
		s.end()
	case classHarmless:
		s.endUnlessBegan()
	case classChange:
		s.current.substantial = true
		s.endUnlessBegan()
	}
	return nil
}

func (s *fileScan) endUnlessBegan() {
	if !s.current.began {
		s.end()
	}
}

func (s *fileScan) end() {
	if s.current.open {
		s.found.add(s.current.id)
		if s.current.substantial {
			s.substantial.add(s.current.id)
		}
	}
	s.current = tx{}
}
