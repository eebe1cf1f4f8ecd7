package configs

import "github.com/hashicorp/hcl/v2"

// cloudBackend is the backend type of a cloud block.
const cloudBackend = "cloud"

// stateBlocks says where state is kept: one block of either kind, not both.
type stateBlocks struct{ backend, cloud *Backend }

// effective is the block that counts.
func (s *stateBlocks) effective() *Backend {
	if s.cloud != nil {
		return s.cloud
	}
	return s.backend
}

// add takes over a block; if there is one of its kind already, that stays.
func (s *stateBlocks) add(next Backend) *hcl.Diagnostic {
	slot, summary := &s.backend, "Duplicate backend configuration"
	if next.Type == cloudBackend {
		slot, summary = &s.cloud, "Duplicate HCP Terraform configurations"
	}
	if *slot != nil {
		return Problem(next.Range, summary, "There is such a block already at %s.", (*slot).Range)
	}
	*slot = &next
	return nil
}

// addBackends takes over the blocks of a primary file.
func (b *builder) addBackends(backends []Backend) {
	for _, next := range backends {
		before := b.state
		if diag := b.state.add(next); diag != nil {
			b.report(diag)
			continue
		}
		if before.effective() != nil {
			b.report(Problem(b.state.backend.Range, "Both a backend and cloud configuration are present",
				"State is kept in one place; there is a cloud block at %s.", b.state.cloud.Range))
		}
	}
}

// overrideBackends replaces the place of the state, whatever it was. An
// override file may have a block of each kind, of which cloud counts.
func (b *builder) overrideBackends(backends []Backend) {
	var changed stateBlocks
	for _, next := range backends {
		if diag := changed.add(next); diag != nil {
			b.report(diag)
		}
	}
	if changed.effective() != nil {
		b.state = changed
	}
}
