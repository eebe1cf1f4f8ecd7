package configs

// checkChild finds what only the root module may have.
func (b *builder) checkChild() {
	path := b.module.Path
	if path == "" {
		return
	}
	for _, target := range b.imports {
		b.report(Problem(target.header, "Invalid import configuration",
			"There is an import block in %q. They can stand in the root module only.", path))
	}
	if backend := b.module.Backend; backend != nil {
		b.report(Warning(backend.Range, "Backend configuration ignored",
			"State is kept for the configuration as a whole, so that only the root module decides where. In %q this block means nothing.", path))
	}
}
