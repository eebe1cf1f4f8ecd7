package cliblock

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/tfdeps/tfdeps/getproviders"
)

// Reattached returns the providers in the value of TF_REATTACH_PROVIDERS,
// sorted. They run already, started by a debugger for instance, so they
// are not installed. The value is a JSON object whose keys are source
// addresses; what it says of each is for those who talk to providers, and is
// not looked at. An empty value means none.
func Reattached(text string, product getproviders.Product) ([]getproviders.Provider, error) {
	if text == "" {
		return nil, nil
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		return nil, fmt.Errorf("invalid format for TF_REATTACH_PROVIDERS: %w", err)
	}
	var providers []getproviders.Provider
	for _, source := range slices.Sorted(maps.Keys(entries)) {
		p, err := product.ParseProvider(source)
		if err != nil {
			return nil, fmt.Errorf("invalid provider address %q in TF_REATTACH_PROVIDERS: %w", source, err)
		}
		providers = append(providers, p)
	}
	slices.SortFunc(providers, getproviders.Provider.Compare)
	return slices.Compact(providers), nil
}
