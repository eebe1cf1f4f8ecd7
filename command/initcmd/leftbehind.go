package initcmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/workdir"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/config/load"
)

// backendState is the configured and the recorded backend of a directory.
type backendState struct {
	request
	block  *load.Backend   // nil if the configuration has no block
	record *backend.Record // as plan will find it; nil if nothing is recorded
}

// transition is a change of the backend, and where state is before and after it.
type transition struct {
	recorded  bool            // a backend is recorded
	elsewhere bool            // the recorded one doesn't keep state in local files
	there     []backend.State // states in the recorded backend's local files; without a backend, in the default ones
	usual     []backend.State // states in the default local files
	removed   bool            // the block was removed
	inPlace   bool            // from one cloud block to another

	reconfigure, moves bool // the options
}

// verdict is the decision about a change of the backend.
type verdict int

const (
	taken   verdict = iota // recorded: plan finds all state that it found before, or the user gives it up as with the real program
	refused                // the real program wants an option that says whether to move state
	moved                  // the real program has to move state first
)

// verdict decides, and returns the states in local files that have to be moved. The real program
//
//   - looks for state in the default files if no backend is recorded, or if -reconfigure makes it forget the recorded one;
//   - then asks about all workspaces if any but the default one has state, even about those that stay where they are;
//   - replaces a recorded backend only with an option;
//   - leaves the record if -reconfigure is given and there is no block, so that plan fails;
//   - replaces a cloud block by another without any option.
func (t transition) verdict() (verdict, []backend.State) {
	states, counts := t.there, isLeft
	switch {
	case t.inPlace:
		return taken, nil
	case t.recorded && !t.reconfigure && !t.moves:
		return refused, nil
	case t.recorded && t.reconfigure && !t.removed:
		forgets := t.elsewhere || slices.ContainsFunc(t.there, isLeft)
		states, counts = t.usual, func(s backend.State) bool {
			return isLeft(s) || forgets && s.Full && s.Workspace != backend.DefaultWorkspace
		}
	case t.elsewhere:
		return moved, nil
	case t.recorded:
		counts = func(s backend.State) bool { return isLeft(s) || isWorkspaceLeft(s) }
	}
	if left := slices.DeleteFunc(slices.Clone(states), func(s backend.State) bool { return !counts(s) }); len(left) > 0 {
		return moved, left
	}
	return taken, nil
}

// isLeft reports whether plan wouldn't find a state any more.
func isLeft(s backend.State) bool { return s.Full && !s.Stays }

// isWorkspaceLeft reports whether a workspace wouldn't exist any more, so that another one would be selected.
func isWorkspaceLeft(s backend.State) bool {
	return !s.Stays && s.Workspace != backend.DefaultWorkspace
}

// checkLeftBehind refuses a change of the backend after which plan wouldn't find state any more. config is nil without
// a block.
func (b *backendState) checkLeftBehind(config *backend.Config) problem.List {
	t, err := b.transition(config)
	if err != nil {
		return problem.Failed("state", "Failed to load state", err)
	}
	if is := b.isCloud(); is && t.reconfigure || t.moves && (is || b.wasCloud()) {
		return problem.Fail("invalid_option", "Invalid command-line option", "The options -reconfigure, -migrate-state and -force-copy are for backends, "+
			"not for a cloud block. Leave them out. To have state moved to that service or away from it, run:\n  %s init -get=false", b.Program)
	}
	switch decided, left := t.verdict(); decided {
	case refused:
		t.reconfigure = true
		otherwise, _ := t.verdict()
		return problem.List{b.changed(otherwise == taken)}
	case moved:
		return problem.List{b.mustMove(t, left)}
	}
	return nil
}

func (b *backendState) transition(config *backend.Config) (t transition, err error) {
	usual := backend.LocalFiles("", "")
	next := &usual
	switch {
	case config == nil:
	case config.Type == backend.Local:
		next = new(backend.LocalFiles(config.Text("path"), config.Text("workspace_dir")))
	default:
		next = nil
	}
	t = transition{
		recorded: b.record != nil && b.record.Type != "", elsewhere: !b.record.IsLocal(), removed: config == nil,
		reconfigure: b.opts.backend.reconfigure, moves: b.opts.backend.moves(),
	}
	t.inPlace = b.isCloud() && b.wasCloud()
	if !t.elsewhere {
		if t.there, err = b.record.LocalFiles().States(next); err != nil {
			return t, err
		}
	}
	t.usual, err = usual.States(next)
	return t, err
}

func (b *backendState) isCloud() bool { return b.block != nil && b.block.Type == backend.Cloud }

func (b *backendState) wasCloud() bool { return b.record != nil && b.record.Type == backend.Cloud }

// moving returns the command of the real program that moves state. From or to HCP Terraform it has no such option.
func (b *backendState) moving(option string) string {
	if b.isCloud() || b.wasCloud() {
		option = ""
	}
	return b.Program + " init " + option + "-get=false"
}

// changed is the error for another backend than the recorded one. forgets says whether to suggest -reconfigure.
func (b *backendState) changed(forgets bool) *problem.Problem {
	advice := []string{
		"The backend isn't the one that this directory was initialized with, so there may be state to move.",
		"To move it, run:\n  " + b.moving("-migrate-state "),
	}
	if forgets && !b.isCloud() {
		advice = append(advice, "To take the backend as it is now, and leave state where it is, run:\n  "+b.Called+" init -reconfigure")
	}
	return problem.Error("other_backend", "Backend configuration changed", strings.Join(advice, "\n\n"))
}

// mustMove is the error for state that would be left behind.
func (b *backendState) mustMove(t transition, left []backend.State) *problem.Problem {
	product, asked := b.Product, "Error asking for state migration action: " // as the real program says
	if t.moves {
		return problem.Errorf("other_backend", "State is moved by "+product.Name, "To install with tfdeps and have state moved, "+
			"run \"%s init -migrate-state -with=%s\"; or run:\n  %[2]s init -migrate-state -get=false", b.Called, product.Program)
	}
	option, why, rid := "-migrate-state ", "", "move the file away"
	switch {
	case len(left) == 0:
		why = fmt.Sprintf("the configuration has no backend any more, and the backend %q isn't asked whether it has state.", b.record.Type)
	case t.removed:
		why = fmt.Sprintf("the configuration has no backend any more, and there is state in %s.", left[0].Path)
	default:
		why = fmt.Sprintf("the backend %q is new here, and there is state in %s that wasn't moved to it.", b.block.Type, left[0].Path)
	}
	switch {
	case t.removed:
		rid = "remove " + workdir.RecordPath(b.Meta.Env)
	case t.reconfigure: // the real program looks at the same files with it
		option = "-reconfigure "
	}
	return problem.Errorf("other_backend", "Existing state has to be moved",
		"%s%s To move it, run:\n  %s\n\nIf that state isn't needed any more, %s, and initialize again.",
		asked, why, b.moving(option), rid)
}
