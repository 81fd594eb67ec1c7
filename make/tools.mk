# Tools. Each is pinned by tools/<name>/go.mod and go.sum, a module of its own so that the
# dependencies of one tool never move those of another, nor the product's. A tool is built once
# per machine, into a folder named after what went into it, outside the checkout.

KEELSON_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/keelson
TOOLS := $(notdir $(patsubst %/go.mod,%,$(wildcard tools/*/go.mod)))

# tool_path NAME: where the binary of tools/NAME belongs.
tool_path = $(KEELSON_CACHE)/tools/$(1)-$(shell { go env GOVERSION 2>/dev/null || :; cat tools/$(1)/go.mod tools/$(1)/go.sum; } | sha256sum | cut -c1-16)/$(1)

# Built beside its final name and moved there in one step, so that two checkouts
# that build the same tool at once never see half a file.
define tool_rule
TOOL_$(1) := $$(call tool_path,$(1))
$$(TOOL_$(1)):
	@echo "building $(1) (once per machine)"
	@mkdir -p $$(@D)
	@CGO_ENABLED=0 nice go build -C tools/$(1) -o $$@.$$$$$$$$ "$$$$(awk '$$$$1 == "tool" {print $$$$2}' tools/$(1)/go.mod)" && mv $$@.$$$$$$$$ $$@
endef
$(foreach tool,$(TOOLS),$(eval $(call tool_rule,$(tool))))

##@ Tools

.PHONY: tools
tools: $(foreach tool,$(TOOLS),$(TOOL_$(tool))) ## Build every pinned tool into the cache.
