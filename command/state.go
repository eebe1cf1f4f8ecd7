package command

import (
	"context"
	"fmt"
	"os"

	"github.com/tfdeps/tfdeps/configs"
	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/getproviders/par"
)

// readState returns the providers in the state: in the given one, of the option
// -state, else in that of the current workspace, if that is in a local
// file. If it isn't, there is no way to know them, and known is false. The
// record is the backend's; nil: there is none.
func (m *Meta) readState(product getproviders.Product, given string, record *backend.Record) (req getproviders.Requirements, known bool, err error) {
	switch {
	case given == "-":
		req, err = m.stateFromStdin(product)
		return req, true, err
	case given != "":
		if _, err := os.Stat(given); err != nil {
			return nil, true, fmt.Errorf("reading state: %w", err) // what is asked for has to be there
		}
	case !record.IsLocal():
		return nil, false, nil
	default:
		workspace, err := m.workspace()
		if err != nil {
			return nil, true, err
		}
		given, _ = record.StateFile(workspace)
	}
	req, err = configs.StateRequirements(given, product)
	return req, true, err
}

// stateFromStdin reads what somebody may be about to type: an interrupt
// doesn't wait for it.
func (m *Meta) stateFromStdin(product getproviders.Product) (getproviders.Requirements, error) {
	var reading par.Memo[struct{}, getproviders.Requirements]
	return reading.Do(m.Context, struct{}{}, func(context.Context) (getproviders.Requirements, error) {
		return configs.ReadStateRequirements(m.Stdin, "standard input", product)
	})
}
