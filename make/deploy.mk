# Putting the operator on a cluster: the one of the current kubeconfig, or KUBECONTEXT.

KUBECTL ?= kubectl $(if $(KUBECONTEXT),--context $(KUBECONTEXT))
# OVERLAY is development or production.
OVERLAY ?= production
IGNORE_NOT_FOUND ?= true
# BASE_NAME is the image that the base names, which render replaces.
BASE_NAME = $(shell sed -n 's/^ *newName: *//p' config/manager/kustomization.yaml)
# An image is named by tag or by digest.
IMG_NAME = $(shell printf '%s' '$(IMG)' | sed -E 's/(@sha256:.*|:[^:/]*)$$//')
IMG_AT = $(if $(findstring @,$(IMG)),digest: "$(lastword $(subst @, ,$(IMG)))",newTag: "$(patsubst $(IMG_NAME):%,%,$(IMG))")

##@ Deploy

.PHONY: install
install: manifests $(TOOL_kustomize) ## Install the custom resource definitions.
	$(TOOL_kustomize) build config/crd | $(KUBECTL) apply --server-side -f -

.PHONY: uninstall
uninstall: $(TOOL_kustomize) ## Remove the custom resource definitions, and every cluster with them.
	$(TOOL_kustomize) build config/crd | $(KUBECTL) delete --ignore-not-found=$(IGNORE_NOT_FOUND) -f -

# The image is set in a kustomization of its own under _output, so that no tracked file changes.
.PHONY: render
render: $(TOOL_kustomize)
	@mkdir -p _output/deploy
	@printf '%s\n' 'resources: [../../config/overlays/$(OVERLAY)]' 'images:' \
		'- {name: $(BASE_NAME), newName: "$(IMG_NAME)", $(IMG_AT)}' > _output/deploy/kustomization.yaml
	@$(TOOL_kustomize) build _output/deploy > _output/deploy/install.yaml

.PHONY: deploy
deploy: manifests render ## Install the operator (OVERLAY=production|development).
	$(KUBECTL) apply --server-side -f _output/deploy/install.yaml

.PHONY: undeploy
undeploy: render ## Remove the operator, its definitions, and every cluster with them.
	$(KUBECTL) delete --ignore-not-found=$(IGNORE_NOT_FOUND) -f _output/deploy/install.yaml

.PHONY: build-installer
build-installer: manifests render ## Write dist/install.yaml, one file that installs the operator.
	@mkdir -p dist
	cp _output/deploy/install.yaml dist/install.yaml
