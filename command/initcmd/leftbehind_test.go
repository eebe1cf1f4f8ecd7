package initcmd

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/backend"
)

func TestTransition_LeavesNoStateBehind(t *testing.T) {
	// a word for each state: of the default workspace, unless it is "dev"; "full" if it holds something, "gone" if another backend has another place for it
	parse := func(text string) (states []backend.State) {
		for state := range strings.SplitSeq(text, ", ") {
			if state == "" {
				continue
			}
			s := backend.State{Workspace: backend.DefaultWorkspace, Full: strings.Contains(state, "full"), Stays: !strings.Contains(state, "gone")}
			if strings.Contains(state, "dev") {
				s.Workspace = "dev"
			}
			states = append(states, s)
		}
		return states
	}
	type options = transition
	first, other, none := options{}, options{recorded: true}, options{recorded: true, removed: true}
	remote, gone := options{recorded: true, elsewhere: true}, options{recorded: true, elsewhere: true, removed: true}
	cloud := options{recorded: true, elsewhere: true, inPlace: true}
	for _, tt := range []struct {
		name                        string
		change                      transition
		there, usual                string
		plain, reconfigure, migrate verdict
	}{
		{"first, no state", first, "gone", "gone", taken, taken, taken},
		{"first, state", first, "gone full", "gone full", moved, moved, moved},
		{"first, state that stays", first, "full, dev full", "full, dev full", taken, taken, taken},
		{"first, a workspace's state", first, "full, dev gone full", "full, dev gone full", moved, moved, moved},
		{"first, an empty workspace", first, "full, dev gone", "full, dev gone", taken, taken, taken},
		{"other, no state", other, "gone", "", refused, taken, taken},
		{"other, state", other, "gone full", "", refused, taken, moved},
		{"other, a workspace's state", other, "full, dev gone full", "full, dev gone full", refused, moved, moved},
		{"other, an empty workspace", other, "dev gone", "", refused, taken, moved},
		{"other, all stays", other, "full, dev full", "full, dev full", refused, taken, taken},
		{"other, usual state stays", other, "gone full", "full", refused, taken, moved},
		{"other, a usual workspace stays", other, "gone full", "full, dev full", refused, moved, moved},
		{"other, usual state is gone", other, "", "gone full", refused, moved, taken},
		{"removed, no state", none, "gone", "full, dev full", refused, taken, taken},
		{"removed, state", none, "gone full", "", refused, moved, moved},
		{"removed, an empty workspace", none, "dev gone", "", refused, moved, moved},
		{"removed, all stays", none, "full, dev full", "full, dev full", refused, taken, taken},
		{"remote", remote, "", "", refused, taken, moved},
		{"remote, usual state", remote, "", "gone full", refused, moved, moved},
		{"remote, usual state stays", remote, "", "full", refused, taken, moved},
		{"remote, a usual workspace stays", remote, "", "dev full", refused, moved, moved},
		{"from one cloud block to another", cloud, "", "gone full", taken, taken, taken},
		{"remote, removed", gone, "", "", refused, moved, moved},
	} {
		tt.change.there, tt.change.usual = parse(tt.there), parse(tt.usual)
		for _, option := range []struct {
			name                 string
			reconfigure, migrate bool
			want                 verdict
		}{{"", false, false, tt.plain}, {" -reconfigure", true, false, tt.reconfigure}, {" -migrate-state", false, true, tt.migrate}} {
			change := tt.change
			change.reconfigure, change.moves = option.reconfigure, option.migrate
			if got, _ := change.verdict(); got != option.want {
				t.Errorf("%s%s: got %d, want %d", tt.name, option.name, got, option.want)
			}
		}
	}
}
