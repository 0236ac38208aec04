# `make demo`, `make test` and `make drill` do everything. They install what the machine lacks first.
NODE := local/node
.DEFAULT_GOAL := help
.PHONY: help demo test drill dev check bench site toolchain down clean

help: ## What there is to do
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

demo: node_modules/.package-lock.json ## A local Kubernetes and Temporal, the operator in it, and a first etcd cluster
	@$(NODE) local/demo.ts

test: toolchain ## Every test: unit, replay, integration, end to end on a real local cluster
	@$(NODE) scripts/test.ts

drill: toolchain ## Every drill, also those that take long: clusters under load through all that can happen to them
	@$(NODE) scripts/test.ts --only long,drill,long-drill

dev: node_modules/.package-lock.json ## The operator on this host against the local stack, restarted on change
	@$(NODE) local/dev.ts

check: node_modules/.package-lock.json ## Format, lint, types, generated files, unit tests: about a minute
	@$(NODE) scripts/check.ts

bench: toolchain ## Measures, as ratios against a floor of the same run
	@$(NODE) scripts/bench.ts

site: node_modules/.package-lock.json ## The documentation as a site with a search, into docs/site/dist
	@$(NODE) scripts/build-site.ts

toolchain: node_modules/.package-lock.json ## Builds or fetches every tool of the local stack into the cache
	@$(NODE) local/toolchain/main.ts

down: node_modules/.package-lock.json ## Ends the demo's stack and forgets its data
	@local/local down --wipe

clean: ## Removes what was built into the checkout (the cache folder stays)
	rm -rf dist node_modules docs/site/dist docs/site/node_modules docs/site/pages

node_modules/.package-lock.json: package-lock.json package.json
	PATH="$$(dirname "$$($(NODE) -p process.execPath)"):$$PATH" npm ci --ignore-scripts --no-audit --no-fund
	@touch $@
