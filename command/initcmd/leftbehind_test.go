package initcmd

import (
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/must"
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
	verdicts := map[string]verdict{"taken": taken, "moved": moved, "refused": refused}
	for _, tt := range []struct {
		change             transition
		there, usual, want string // the expected verdicts without an option, with -reconfigure, and with -migrate-state
	}{
		{first, "gone", "gone", "taken taken taken"},                                 // first, no state
		{first, "gone full", "gone full", "moved moved moved"},                       // first, state
		{first, "full, dev full", "full, dev full", "taken taken taken"},             // first, state that stays
		{first, "full, dev gone full", "full, dev gone full", "moved moved moved"},   // first, a workspace's state
		{first, "full, dev gone", "full, dev gone", "taken taken taken"},             // first, an empty workspace
		{other, "gone", "", "refused taken taken"},                                   // other, no state
		{other, "gone full", "", "refused taken moved"},                              // other, state
		{other, "full, dev gone full", "full, dev gone full", "refused moved moved"}, // other, a workspace's state
		{other, "dev gone", "", "refused taken moved"},                               // other, an empty workspace
		{other, "full, dev full", "full, dev full", "refused taken taken"},           // other, all stays
		{other, "gone full", "full", "refused taken moved"},                          // other, usual state stays
		{other, "gone full", "full, dev full", "refused moved moved"},                // other, a usual workspace stays
		{other, "", "gone full", "refused moved taken"},                              // other, usual state is gone
		{none, "gone", "full, dev full", "refused taken taken"},                      // removed, no state
		{none, "gone full", "", "refused moved moved"},                               // removed, state
		{none, "dev gone", "", "refused moved moved"},                                // removed, an empty workspace
		{none, "full, dev full", "full, dev full", "refused taken taken"},            // removed, all stays
		{remote, "", "", "refused taken moved"},                                      // remote
		{remote, "", "gone full", "refused moved moved"},                             // remote, usual state
		{remote, "", "full", "refused taken moved"},                                  // remote, usual state stays
		{remote, "", "dev full", "refused moved moved"},                              // remote, a usual workspace stays
		{cloud, "", "gone full", "taken taken taken"},                                // from one cloud block to another
		{gone, "", "", "refused moved moved"},                                        // remote, removed
	} {
		tt.change.there, tt.change.usual = parse(tt.there), parse(tt.usual)
		for i, want := range strings.Fields(tt.want) {
			change := tt.change
			change.reconfigure, change.moves = i == 1, i == 2
			got, _ := change.verdict()
			must.Equal(t, got, verdicts[want], tt, i)
		}
	}
}
