package load

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfdeps/tfdeps/internal/config/diagnostic"
	"github.com/tfdeps/tfdeps/internal/config/static"
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// addBackends takes over the blocks of a primary file.
func (b *builder) addBackends(backends []Backend) {
	for _, next := range backends {
		before := b.state
		if diag := b.state.add(next, b.product, "Duplicate 'backend' configuration block"); diag != nil {
			b.report(diag)
			continue
		}
		if before.effective() != nil {
			b.error(b.state.backend.Range, "Conflicting 'cloud' and 'backend' configuration blocks are present",
				"State is kept in one place; there is a cloud block at %s.", b.state.cloud.Range)
		}
	}
}

// overrideBackends replaces the place of the state, whatever it was. An
// override file may have a block of each kind, of which cloud counts.
func (b *builder) overrideBackends(backends []Backend) {
	var changed stateBlocks
	for _, next := range backends {
		if diag := changed.add(next, b.product, "Duplicate backend configuration"); diag != nil {
			b.report(diag)
		}
	}
	if changed.effective() != nil {
		b.state = changed
	}
}

// resolveBackend gives the backend's block what its arguments refer to, where the
// product lets them. As the values are written down, secret ones are a mistake. The problems are only
// for who needs the backend.
func (b *builder) resolveBackend() {
	given := b.module.Backend
	if !b.product.StaticModules || given == nil || given.Body == nil || b.module.Path != "" {
		return
	}
	block := *given
	b.module.Backend = &block
	block.Context, block.Problems = b.scope.BodyContext("backend."+block.Type, block.Range, block.Body)
	if len(block.Problems) == 0 {
		const summary, format = "Backend config contains %s values", "The arguments of a backend can't depend on %s values: they are recorded."
		if sensitive, ephemeral := static.Secrets(block.Context); sensitive {
			block.Problems = append(block.Problems, diagnostic.Error(block.Range, fmt.Sprintf(summary, "sensitive"), format, "sensitive"))
		} else if ephemeral {
			block.Problems = append(block.Problems, diagnostic.Error(block.Range, fmt.Sprintf(summary, "ephemeral"), format, "ephemeral"))
		}
	}
	if len(block.Problems) > 0 {
		block.Body = nil
	}
}

// addBackend takes over a block, whose body is decoded by others.
func (d *document) addBackend(kind string, b *block) {
	body := b.Body
	if diag := static.CheckCheap(body); diag != nil {
		d.report(diag)
		body = nil
	}
	d.backends = append(d.backends, Backend{Type: kind, Range: b.DefRange, Body: body})
}

// LoadBody reads a file of arguments and blocks, in JSON if its name says so,
// that stands on its own: what -backend-config names, which may be a pipe. Its expressions are
// cheap to evaluate. The path is what ranges have as the file's name. The file
// is nil if there is nothing to be had of it.
func LoadBody(path string) (*hcl.File, hcl.Diagnostics) {
	src, err := wholefile.ReadAny(path, maxFileBytes)
	if err != nil {
		reason := err
		if at, ok := errors.AsType[*fs.PathError](err); ok {
			reason = at.Err
		}
		return nil, hcl.Diagnostics{diagnostic.Placeless(hcl.DiagError, "Failed to read file",
			"The file %q could not be read: %v. It is what -backend-config names: a file of arguments, or one argument as NAME=VALUE.", path, reason)}
	}
	file, diags := static.Parse(src, filepath.Clean(path))
	if file == nil || file.Body == nil {
		return nil, diags
	}
	if diag := static.CheckCheap(file.Body); diag != nil {
		return nil, append(diags, diag)
	}
	return file, diags
}
