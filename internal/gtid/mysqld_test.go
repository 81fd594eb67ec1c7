// SPDX-License-Identifier: Apache-2.0

package gtid

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/testing/mysqld"
)

// TestSetsAgreeWithTheServer compares with GTID_SUBSET and GTID_SUBTRACT of a real mysqld: a planner that disagrees with
// the server about what a set holds promotes the wrong instance.
func TestSetsAgreeWithTheServer(t *testing.T) {
	server := mysqld.StartBare(t)
	t.Run("2,000 random pairs", func(t *testing.T) { agreeOnPairs(t, server) })
	t.Run("texts", func(t *testing.T) { agreeOnTexts(t, server) })
}

func agreeOnPairs(t *testing.T, server *mysqld.Server) {
	t.Helper()
	const pairs = 2000
	var sql strings.Builder
	texts := make([][2]string, 0, pairs)
	for seed := range uint64(pairs) {
		r := rand.New(rand.NewPCG(seed, 2))
		_, a := random(r)
		_, b := random(r)
		texts = append(texts, [2]string{a, b})
		fmt.Fprintf(&sql, `SELECT REPLACE(GTID_SUBTRACT('%[1]s', ''), '\n', ''), REPLACE(GTID_SUBTRACT('%[1]s', '%[2]s'), '\n', ''),
			REPLACE(GTID_SUBTRACT(CONCAT('%[1]s', ',', '%[2]s'), ''), '\n', ''), GTID_SUBSET('%[2]s', '%[1]s');`+"\n", a, b)
	}
	rows := strings.Split(server.Query(t, sql.String()), "\n")
	if len(rows) != pairs {
		t.Fatalf("the server answered %d of %d questions", len(rows), pairs)
	}
	for i, pair := range texts {
		a, b := MustParse(pair[0]), MustParse(pair[1])
		subset := 0
		if a.Contains(b) {
			subset = 1
		}
		got := fmt.Sprintf("%s\t%s\t%s\t%d", a, a.Subtract(b), a.Union(b), subset)
		if got != rows[i] {
			t.Errorf("of %q and %q:\nserver: %s\ngtid:   %s", pair[0], pair[1], rows[i], got)
		}
	}
}

// agreeOnTexts: what Parse refuses the server refuses too, but for a few texts that no server writes.
func agreeOnTexts(t *testing.T, server *mysqld.Server) {
	t.Helper()
	lenient := map[string]bool{
		"a UUID alone": true, "a tag without interval": true, "a tag after a tag": true, "a tag at the end": true,
		"an interval that ends before it begins": true, "a UUID in braces": true, "a UUID without dashes": true,
		// Read, but refused in SET gtid_next (error 1774), so that no transaction can have such a tag.
		"letters outside ASCII": true,
	}
	for name, text := range malformed() {
		out, err := server.Client(t, fmt.Sprintf("SELECT GTID_SUBTRACT('%s', '')", text), "--user=root", "--socket="+server.Socket)
		if accepted := err == nil; accepted != lenient[name] {
			t.Errorf("%s: %q: the server accepts: %v (%s)", name, text, accepted, out)
		}
	}
}
