// SPDX-License-Identifier: Apache-2.0

package mycnf

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/keelson-dev/mysql-operator/internal/testing/golden"
	"github.com/keelson-dev/mysql-operator/internal/testing/mysqld"
)

func TestOwned(t *testing.T) {
	for name, c := range map[string]struct {
		key  string
		want bool
	}{
		"a variable":                            {"server_id", true},
		"with dashes":                           {"gtid-mode", true},
		"in upper case":                         {"Read_Only", true},
		"an old name":                           {"skip_slave_start", true},
		"a member of a family":                  {"rpl_semi_sync_source_wait_point", true},
		"a filter":                              {"replicate_wild_ignore_table", true},
		"behind a prefix of options":            {"loose_log_bin", true},
		"negated":                               {"disable_log_bin", true},
		"an ordinary variable":                  {"max_connections", false},
		"one that begins like an owned one":     {"log_bin_trust_function_creators", false},
		"one that begins like an owned one (2)": {"port_open_timeout", false},
		"the size of the buffer pool":           {"innodb_buffer_pool_size", false},
		"a component's variable":                {"validate_password.length", false},
		"nothing":                               {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Owned(c.key); got != c.want {
				t.Errorf("Owned(%q) = %v, want %v", c.key, got, c.want)
			}
		})
	}
}

func TestEverySafetyFlagIsOwned(t *testing.T) {
	for _, flag := range SafetyFlags(testServer("/d"))[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		if !Owned(name) {
			t.Errorf("%s is on the command line, so mysql.config could set it only in vain: own it", name)
		}
	}
}

func TestNoDefaultIsOwnedUnlessItIsSaidTo(t *testing.T) {
	for _, o := range defaults(Input{Version: v97(), MemoryLimit: giB}) {
		switch o.name {
		case "log_error_services", "container_aware":
			continue // the manager parses the log; memory follows from the limit
		}
		if Owned(o.name) {
			t.Errorf("%s is owned, so it belongs on the command line", o.name)
		}
	}
}

func TestOwnedKeysAreUnambiguous(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range OwnedKeys() {
		if seen[k.Name] {
			t.Errorf("%s is listed twice", k.Name)
		}
		seen[k.Name] = true
		if Normalize(k.Name) != k.Name || k.Reason == "" {
			t.Errorf("%q is misspelled or has no reason", k.Name)
		}
		for _, p := range OwnedKeys() {
			if p.Prefix && p != k && strings.HasPrefix(k.Name, p.Name) {
				t.Errorf("%s is in the family %s* already", k.Name, p.Name)
			}
		}
	}
}

// A misspelled owned key would protect nothing.
func TestOwnedKeysExist(t *testing.T) {
	out, err := mysqld.Command(t.Context(), mysqld.Bin(t), "--no-defaults", "--plugin-load-add=mysql_clone.so", "--verbose", "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	help := Normalize(string(out))
	known := map[string]bool{}
	for word := range strings.FieldsFuncSeq(help, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789_", r) }) {
		known[strings.TrimLeft(word, "_")] = true
	}
	// Set at run time only, read by no option file, or of plugins that --help does not load.
	elsewhere := strings.Fields(`server_uuid gtid_next gtid_purged sql_log_bin rpl_semi_sync_ group_replication_ clone_ssl_
		clone_valid_donor_list clone bootstrap slave_exec_mode login_path no_login_paths defaults_extra_file plugin_`)
	for _, k := range OwnedKeys() {
		if slices.Contains(elsewhere, k.Name) || slices.Contains(optionPrefixes(), k.Name) || known[k.Name] {
			continue
		}
		family := k.Prefix && strings.Contains(help, k.Name)
		if !family {
			t.Errorf("mysqld %s knows no %s", mysqld.Version(t), k.Name)
		}
	}
}

// The API server enforces the same list while no operator runs.
func TestCELRulesOfTheAPIAreThese(t *testing.T) {
	source, err := os.ReadFile("../../api/v1/mysqlcluster_types.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range CELRules() {
		want := fmt.Sprintf("// +kubebuilder:validation:XValidation:rule=%q,message=%q\n", rule, MessageOwned)
		if !strings.Contains(string(source), want) {
			t.Errorf("the field config of MySQLSpec lacks this marker:\n%s", want)
		}
	}
}

func TestReferencePage(t *testing.T) {
	golden.Compare(t, "../../docs/reference/config.md", []byte(page()))
}

func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	for _, g := range ownedGroups() {
		b.WriteString("\n**" + g.reason + "**\n\n")
		names := strings.Fields(g.names)
		slices.Sort(names)
		for _, name := range names {
			b.WriteString("* `" + name + "`\n")
		}
	}
	b.WriteString(pageDefaults)
	b.WriteString("\n| | 512Mi | 1Gi | 4Gi | 16Gi | 64Gi |\n|---|---|---|---|---|---|\n")
	var columns [][]option
	for _, limit := range []int64{512 * miB, giB, 4 * giB, 16 * giB, 64 * giB} {
		columns = append(columns, defaults(Input{Version: v97(), MemoryLimit: limit}))
	}
	for i, o := range columns[0] {
		b.WriteString("| `" + o.name + "`")
		for _, c := range columns {
			b.WriteString(" | " + c[i].value)
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n`container_aware` is set for MySQL 9.7 only; 8.4 does not know it.\n")
	return b.String()
}

const pageHead = `<!-- Written by go test ./internal/mycnf -run TestReferencePage -update; do not edit. -->

# MySQL settings

` + "`spec.mysql.config`" + ` takes any system variable of mysqld, written in lower case with underscores:

` + "```yaml" + `
spec:
  mysql:
    config:
      max_connections: "500"
      sql_mode: STRICT_TRANS_TABLES
` + "```" + `

A change takes effect when an instance is restarted; the condition ` + "`UpToDate`" + ` with reason ` + "`RestartPending`" + ` names the
instances that wait for it. mysqld does not start with a variable that it does not know, and the condition then says so;
variables of a component can be set once the component is installed.

` + "`SET GLOBAL`" + ` works until the next restart. ` + "`SET PERSIST`" + ` does too, but is not read at the next start
(` + "`persisted_globals_load=OFF`" + `): every instance runs with what the spec says, also after it was cloned anew.

## What cannot be set

The operator owns these, and refuses them in the spec. A star stands for the rest of a name.
`

const pageDefaults = `
## Defaults

These follow from the memory limit of the container (1Gi is assumed where there is none), and ` + "`spec.mysql.config`" + ` replaces
them.
`
