// SPDX-License-Identifier: Apache-2.0

package mysql

import (
	"strings"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/gtid"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		`plain`: `'plain'`, `o'clock`: `'o''clock'`, `back\slash`: `'back\\slash'`, "two\nlines": `'two\nlines'`, `"`: `'"'`,
	} {
		if got := quote(text); got != want {
			t.Errorf("quote(%q) = %s, want %s", text, got, want)
		}
	}
	if got := quoteName("a`b"); got != "`a``b`" {
		t.Errorf("quoteName() = %s", got)
	}
}

func TestOwnersAreCutOff(t *testing.T) {
	const u = "00000000-0000-0000-0000-00000000000a"
	var set gtid.Set
	if err := parse(owner.ReplaceAllString(u+":7#33:8#34#35:blue:1#2", ""), &set); err != nil {
		t.Fatal(err)
	}
	if want := gtid.MustParse(u + ":7-8:blue:1"); !set.Equal(want) {
		t.Errorf("owned is %s, want %s", set, want)
	}
}

func TestFirstFile(t *testing.T) {
	text := FirstFile(First{
		ManagerUser: "m", ManagerPassword: "a'b", CloneUser: "c", ClonePassword: "p", CatchupUser: "k", CatchupPassword: "p",
		Database: "my_app", Owner: "o", OwnerPassword: "p\nq",
	})
	for _, want := range []string{
		"CREATE USER 'm'@'localhost' IDENTIFIED BY 'a''b';\n", "CREATE DATABASE `my_app`;\n",
		"GRANT ALL ON `my\\_app`.* TO 'o'@'%';\n", "DROP USER IF EXISTS 'root'@'localhost';\n", `IDENTIFIED BY 'p\nq' REQUIRE SSL`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the statements lack %q:\n%s", want, text)
		}
	}
	if bare := FirstFile(First{}); strings.Contains(bare, "DATABASE") || strings.Contains(bare, "REQUIRE SSL") {
		t.Errorf("without database and owner:\n%s", bare)
	}
	if strings.Count(text, "\n") != strings.Count(text, ";\n") {
		t.Errorf("a statement spans lines:\n%s", text)
	}
}
