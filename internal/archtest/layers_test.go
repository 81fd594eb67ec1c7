// SPDX-License-Identifier: Apache-2.0

package archtest

// row says what the packages of one tree may import from this module,
// and what they must not depend on, even indirectly.
type row struct {
	path  string   // a tree of this module; a * stands for one name
	layer string   // where it stands in the picture
	may   []string // trees of this module that it may import directly
	ban   []string // prefixes of import paths, anybody's
	why   string
}

// anything in a row's may lifts the check of direct imports.
const anything = "anything"

// The layers, top of the picture last.
const (
	layerAPI           = "API"
	layerVocabulary    = "0 vocabulary"
	layerDecisions     = "1 decisions"
	layerHands         = "2 hands"
	layerOrchestration = "3 orchestration"
	layerOutside       = "tests and tools"
)

var (
	// kubernetes is everything of Kubernetes, types included.
	kubernetes = []string{"k8s.io/", "sigs.k8s.io/"}
	// clients are the packages that can reach an API server; types and apply configurations are none.
	clients = []string{"k8s.io/client-go/rest", "k8s.io/client-go/kubernetes", "k8s.io/client-go/dynamic", "sigs.k8s.io/controller-runtime"}
	// outside is what a pure package has no business with.
	outside = []string{"k8s.io/", "sigs.k8s.io/", "database/sql", "net/http", "os/exec"}
	// drivers speak the MySQL protocol. database/sql is not among them: the Prometheus client imports it.
	drivers = []string{"github.com/go-sql-driver/mysql", "github.com/go-mysql-org/go-mysql", self("internal/mysql"), self("internal/backup/engine")}
)

// layers is the one table of who may import whom. A package in no row fails the test.
// To change it, change docs/architecture.md with it (make generate) and say why in the commit.
var layers = []row{
	{path: "api", layer: layerAPI, ban: []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"}, why: "users import it: types and nothing else"},
	{path: "api/*/applyconfiguration", layer: layerAPI, may: []string{"api"}, ban: []string{"sigs.k8s.io/controller-runtime"}, why: "generated"},

	{path: "internal/gtid", layer: layerVocabulary, ban: outside, why: "pure"},
	{path: "internal/naming", layer: layerVocabulary, ban: []string{"sigs.k8s.io/controller-runtime", "database/sql", "net/http"}, why: "words only"},
	{path: "internal/version", layer: layerVocabulary, ban: []string{"sigs.k8s.io/controller-runtime", "database/sql", "net/http"}, why: "words only"},
	{path: "internal/wire", layer: layerVocabulary, ban: []string{"k8s.io/", "sigs.k8s.io/", "database/sql"}, why: "spoken by both sides, which share nothing else"},

	{path: "internal/planner", layer: layerDecisions, may: []string{"internal/gtid", "internal/version"}, ban: outside, why: "decides, never acts"},
	{path: "internal/mycnf", layer: layerDecisions, may: []string{"internal/gtid", "internal/version"}, ban: outside, why: "settings in, text out"},
	{path: "internal/backup/plan", layer: layerDecisions, may: []string{"internal/gtid", "internal/version"}, ban: outside, why: "decides, never acts"},
	{path: "internal/autopilot/advise", layer: layerDecisions, may: []string{"internal/gtid", "internal/version"}, ban: outside, why: "proposes, never acts"},
	{path: "internal/validation", layer: layerDecisions, may: []string{"api", "internal/gtid", "internal/mycnf", "internal/version", "internal/naming"}, ban: clients, why: "specs in, errors out"},
	{path: "internal/conversion", layer: layerDecisions, may: []string{"api"}, ban: []string{"k8s.io/client-go/rest", "k8s.io/client-go/kubernetes"}, why: "one shape in, another out"},

	{path: "internal/mysql", layer: layerHands, may: []string{"internal/gtid", "internal/version"}, ban: kubernetes, why: "knows one mysqld"},
	{path: "internal/pki", layer: layerHands, may: []string{"internal/naming"}, ban: []string{"k8s.io/"}, why: "knows certificates"},
	{path: "internal/objectstore", layer: layerHands, ban: kubernetes, why: "knows one bucket"},
	{path: "internal/backup/engine", layer: layerHands, may: []string{"internal/mysql", "internal/objectstore", "internal/backup/plan", "internal/gtid", "internal/wire"}, ban: kubernetes, why: "moves data between mysqld and a bucket"},
	{path: "internal/resources", layer: layerHands, may: []string{"api", "internal/naming", "internal/mycnf", "internal/version"}, ban: []string{"sigs.k8s.io/controller-runtime", "k8s.io/client-go/dynamic", "k8s.io/client-go/tools/cache"}, why: "builds desired objects, never sends them"},
	{path: "internal/kube", layer: layerHands, may: []string{"api", "internal/naming"}, ban: []string{self("internal/planner"), self("internal/mysql")}, why: "client craft, no knowledge of MySQL"},
	{path: "internal/conditions", layer: layerHands, may: []string{"internal/naming"}, ban: []string{self("internal/mysql")}, why: "the word of OLM"},
	{path: "internal/audit", layer: layerHands, may: []string{"api", "internal/naming", "internal/planner", "internal/wire", "internal/gtid"}, ban: []string{self("internal/mysql"), self("internal/controller")}, why: "records, never decides"},
	{path: "internal/events", layer: layerHands, may: []string{"api", "internal/naming", "internal/planner", "internal/wire", "internal/gtid"}, ban: []string{self("internal/mysql"), self("internal/controller")}, why: "says what happened"},
	{path: "internal/metrics", layer: layerHands, may: []string{"internal/naming"}, ban: []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime"}, why: "shared by operator and instance"},

	{path: "internal/instance", layer: layerOrchestration, may: []string{"internal/wire", "internal/gtid", "internal/mysql", "internal/mycnf", "internal/backup", "internal/objectstore", "internal/naming", "internal/version", "internal/metrics", "internal/pki"}, ban: []string{self("api"), self("internal/kube"), self("internal/controller"), self("internal/planner"), self("internal/webhook"), "k8s.io/client-go", "sigs.k8s.io/controller-runtime"}, why: "has no access to the API server"},
	{path: "internal/instance/client", layer: layerOrchestration, may: []string{"internal/wire", "internal/naming"}, ban: []string{self("internal/mysql"), self("internal/instance/supervisor")}, why: "the operator's end of the wire"},
	{path: "internal/autopilot", layer: layerOrchestration, may: []string{"internal/autopilot/advise", "api", "internal/naming", "internal/kube", "internal/events", "internal/audit"}, ban: []string{self("internal/mysql"), self("internal/controller")}, why: "takes the road a person's edit takes"},
	{path: "internal/controller/*", layer: layerOrchestration, may: []string{"api", "internal/gtid", "internal/naming", "internal/version", "internal/wire", "internal/planner", "internal/mycnf", "internal/backup/plan", "internal/autopilot/advise", "internal/validation", "internal/conversion", "internal/pki", "internal/objectstore", "internal/resources", "internal/kube", "internal/conditions", "internal/audit", "internal/events", "internal/metrics", "internal/instance/client"}, ban: drivers, why: "never opens a SQL connection"},
	{path: "internal/webhook", layer: layerOrchestration, may: []string{"api", "internal/validation", "internal/naming"}, ban: []string{self("internal/mysql"), self("internal/controller")}, why: "translates; validation decides"},
	{path: "cmd/*", layer: layerOrchestration, may: []string{anything}, why: "only cmd constructs"},

	{path: "internal/testing", layer: layerOutside, may: []string{anything}, why: "imported by tests only"},
	{path: "internal/archtest", layer: layerOutside, may: []string{anything}, why: "these tests"},
	{path: "hack", layer: layerOutside, may: []string{anything}, why: "small programs for developers"},
	{path: "test", layer: layerOutside, may: []string{anything}, why: "end to end"},
}
