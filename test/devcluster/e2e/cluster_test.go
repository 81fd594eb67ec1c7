// SPDX-License-Identifier: Apache-2.0

//go:build devcluster

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega" //nolint:revive // Assertions read as sentences.
)

const (
	soon = 90 * time.Second
	// grown is longer: a kubelet looks at a claim's new size when it next visits the pod, once a minute or so.
	grown = 3 * time.Minute
	often = time.Second
)

// TestCluster brings two nodes up, uses and breaks them, and takes them down. The parts build on each other.
func TestCluster(t *testing.T) {
	c := build(t)
	c.run(t, "down", "--purge") // Whatever an earlier, failed run of this test left.
	before := observeHost(t)
	c.up(t, 2)
	t.Cleanup(func() { c.runWith(context.Background(), "down", "--purge") }) //nolint:errcheck // The last part already checked it.

	parts := []struct {
		name string
		test func(*testing.T, *cluster)
	}{
		{"starting it again changes nothing and is fast", restart},
		{"a restricted pod runs on each node, from an image by its docker.io name", restrictedPods},
		{"pods reach each other by Service and by name, through DNS", services},
		{"a NetworkPolicy is enforced", networkPolicy},
		{"an image that nobody has is an ordinary ErrImagePull", unknownImage},
		{"a volume grows while it is in use", expand},
		{"a volume can be full", fill},
		{"a frozen volume makes writes wait", freeze},
		{"a partition cuts a node off and heals", partition},
		{"a dead node comes back with its data", kill},
		{"metrics of pods can be read", metrics},
		{"data survives the cluster's stop", stopAndStart},
	}
	for _, part := range parts {
		if !t.Run(part.name, func(t *testing.T) { part.test(t, c) }) {
			c.dump(t)
			return
		}
	}

	t.Run("down leaves nothing behind", func(t *testing.T) {
		c.run(t, "volume", "freeze", "test/data-app-0") // Even a frozen volume does not hold it up.
		c.run(t, "down", "--purge")
		before.compare(t)
	})
	t.Run("a start that is killed half-way is cleaned up", func(t *testing.T) {
		c.killedStart(t)
		c.run(t, "reap")
		c.run(t, "down", "--purge")
		before.compare(t)
	})
}

func restart(t *testing.T, c *cluster) {
	first := c.machines(t)
	start := time.Now()
	c.up(t, 2)
	t.Logf("second up: %s", time.Since(start).Round(time.Millisecond))
	NewWithT(t).Expect(c.machines(t)).To(Equal(first), "machines that ran must run on")
}

func restrictedPods(t *testing.T, c *cluster) {
	g := NewWithT(t)
	c.kubectlIn(t, fmt.Sprintf(app, c.mysql(t)), "apply", "-f", "-")
	c.kubectl(t, "-n", "test", "rollout", "status", "statefulset/app", "--timeout=120s")
	nodes := strings.Fields(c.kubectl(t, "-n", "test", "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}"))
	g.Expect(nodes).To(ConsistOf("node1", "node2"))
	g.Expect(c.kubectl(t, "get", "pods", "-n", "test", "-o", "jsonpath={.items[*].status.containerStatuses[*].image}")).
		To(ContainSubstring("docker.io/library/mysql:"))
	_, err := c.tryKubectl(t, "-n", "test", "run", "loose", "--image=mysql:"+c.mysql(t))
	g.Expect(err).To(MatchError(ContainSubstring("violates PodSecurity")))
}

func services(t *testing.T, c *cluster) {
	g := NewWithT(t)
	for _, pod := range []string{"app-0", "app-1"} {
		g.Eventually(func() (string, error) {
			return c.tryKubectl(t, "-n", "test", "exec", pod, "--", "bash", "-c",
				"getent hosts app-0.app.test.svc.cluster.local && exec 3<>/dev/tcp/web.test.svc.cluster.local/3306 && head -c 60 <&3 | tr -d '\\0'")
		}, soon, often).Should(ContainSubstring("not allowed"))
	}
	ip := c.kubectl(t, "-n", "test", "get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
	g.Eventually(func() error { return dial(t.Context(), ip+":3306") }, soon, often).Should(Succeed(), "the host reaches Services too")
}

func networkPolicy(t *testing.T, c *cluster) {
	g := NewWithT(t)
	ip := c.kubectl(t, "-n", "test", "get", "pod", "app-0", "-o", "jsonpath={.status.podIP}")
	fromPod := func(host string) func() error {
		return func() error {
			_, err := c.tryKubectl(t, "-n", "test", "exec", "app-1", "--", "timeout", "3", "bash", "-c", "head -c 1 < /dev/tcp/"+host+"/3306")
			return err
		}
	}
	fromHost := func() error { return dial(t.Context(), ip+":3306") }
	c.kubectlIn(t, fmt.Sprintf(policy, "[]"), "apply", "-f", "-")
	g.Eventually(fromPod(ip), soon, often).ShouldNot(Succeed(), "nobody may")
	g.Eventually(fromHost, soon, often).ShouldNot(Succeed())
	c.kubectlIn(t, fmt.Sprintf(policy, "[{from: [{podSelector: {matchLabels: {app: app}}}]}]"), "apply", "-f", "-")
	g.Eventually(fromPod(ip), soon, often).Should(Succeed(), "the application's own pods may")
	g.Eventually(fromPod("app-0.app"), soon, often).Should(Succeed())
	g.Expect(fromHost()).NotTo(Succeed(), "others may not")
	c.kubectl(t, "-n", "test", "delete", "networkpolicy", "--all")
	g.Eventually(fromHost, soon, often).Should(Succeed())
}

func unknownImage(t *testing.T, c *cluster) {
	c.kubectl(t, "run", "nobody", "--image=docker.io/library/nonesuch:1", "--restart=Never")
	NewWithT(t).Eventually(func() string {
		return c.kubectl(t, "get", "pod", "nobody", "-o", "jsonpath={.status.containerStatuses[*].state.waiting.reason}")
	}, soon, often).Should(Or(Equal("ErrImagePull"), Equal("ImagePullBackOff")))
	c.kubectl(t, "delete", "pod", "nobody", "--now")
}

func expand(t *testing.T, c *cluster) {
	g := NewWithT(t)
	before := c.filesystem(t)
	start := time.Now()
	c.kubectl(t, "-n", "test", "patch", "pvc", "data-app-0", "-p", `{"spec":{"resources":{"requests":{"storage":"900Mi"}}}}`)
	g.Eventually(func() string {
		return c.kubectl(t, "-n", "test", "get", "pvc", "data-app-0", "-o", "jsonpath={.status.capacity.storage}")
	}, grown, often).Should(Equal("900Mi"))
	t.Logf("grown in %s", time.Since(start).Round(time.Second))
	g.Expect(c.filesystem(t)).To(BeNumerically(">", before+200<<20))
	g.Expect(c.kubectl(t, "-n", "test", "get", "pod", "app-0", "-o", "jsonpath={.status.containerStatuses[0].restartCount}")).To(Equal("0"))
}

func fill(t *testing.T, c *cluster) {
	g := NewWithT(t)
	write := []string{"-n", "test", "exec", "app-0", "--", "dd", "if=/dev/zero", "of=/data/more", "bs=1M", "count=5"}
	c.run(t, "volume", "fill", "test/data-app-0")
	_, err := c.tryKubectl(t, write...)
	g.Expect(err).To(MatchError(ContainSubstring("No space left on device")))
	c.run(t, "volume", "empty", "test/data-app-0")
	c.kubectl(t, write...)
}

func freeze(t *testing.T, c *cluster) {
	g := NewWithT(t)
	c.run(t, "volume", "freeze", "test/data-app-0")
	ended := make(chan error, 1)
	go func() {
		_, err := c.tryKubectl(t, "-n", "test", "exec", "app-0", "--", "touch", "/data/after-thaw")
		ended <- err
	}()
	g.Consistently(ended, "3s").ShouldNot(Receive())
	c.run(t, "volume", "thaw", "test/data-app-0")
	g.Eventually(ended, soon).Should(Receive(BeNil()))
}

func partition(t *testing.T, c *cluster) {
	g := NewWithT(t)
	ip := c.kubectl(t, "-n", "test", "get", "pod", "app-0", "-o", "jsonpath={.status.podIP}")
	node := c.kubectl(t, "-n", "test", "get", "pod", "app-0", "-o", "jsonpath={.spec.nodeName}")
	reach := func() error { return dial(t.Context(), ip+":3306") }
	g.Expect(reach()).To(Succeed())
	for _, direction := range []string{"in", "out", "both"} {
		c.run(t, "partition", "--node", node, "--direction", direction)
		g.Expect(reach()).NotTo(Succeed(), direction)
		g.Expect(c.run(t, "status")).To(ContainSubstring("cut"))
		c.run(t, "partition", "--node", node, "--heal")
		g.Eventually(reach, soon, often).Should(Succeed(), direction)
	}
	c.run(t, "partition", "--node", node, "--from", "plane")
	g.Expect(reach()).To(Succeed(), "only the control plane is cut off")
	c.run(t, "partition", "--node", node, "--heal")
}

func kill(t *testing.T, c *cluster) {
	g := NewWithT(t)
	node := c.kubectl(t, "-n", "test", "get", "pod", "app-0", "-o", "jsonpath={.spec.nodeName}")
	ip := c.kubectl(t, "-n", "test", "get", "pod", "app-0", "-o", "jsonpath={.status.podIP}")
	c.kubectl(t, "-n", "test", "exec", "app-0", "--", "bash", "-c", "echo precious > /data/precious; sync /data/precious")
	c.run(t, "kill-node", "--node", node)
	g.Expect(dial(t.Context(), ip+":3306")).NotTo(Succeed())
	g.Expect(c.run(t, "status")).To(ContainSubstring("dead"))
	start := time.Now()
	c.run(t, "kill-node", "--node", node, "--revive")
	g.Eventually(func() (string, error) {
		return c.tryKubectl(t, "-n", "test", "exec", "app-0", "--", "cat", "/data/precious")
	}, soon, often).Should(ContainSubstring("precious"))
	t.Logf("pod back after %s", time.Since(start).Round(time.Second))
	g.Eventually(func() string {
		return c.kubectl(t, "get", "node", node, "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`)
	}, soon, often).Should(Equal("True"))
}

func metrics(t *testing.T, c *cluster) {
	NewWithT(t).Eventually(func() (string, error) {
		return c.tryKubectl(t, "-n", "test", "top", "pods", "--no-headers")
	}, 2*time.Minute, often).Should(ContainSubstring("app-0"))
}

func stopAndStart(t *testing.T, c *cluster) {
	g := NewWithT(t)
	start := time.Now()
	c.run(t, "down")
	t.Logf("down: %s", time.Since(start).Round(time.Millisecond))
	g.Expect(c.run(t, "status")).NotTo(MatchRegexp(`(?m)^(plane|node\d)\s+\d`), "no machine has a process")
	start = time.Now()
	c.up(t, 2)
	t.Logf("later start: %s", time.Since(start).Round(time.Millisecond))
	g.Eventually(func() (string, error) {
		return c.tryKubectl(t, "-n", "test", "exec", "app-0", "--", "cat", "/data/precious")
	}, soon, often).Should(ContainSubstring("precious"))
	c.kubectl(t, "-n", "test", "rollout", "status", "statefulset/app", "--timeout=120s")
}
