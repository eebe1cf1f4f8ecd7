package oci

import (
	"context"
	"fmt"
)

// withRepository has something published, and if its registry doesn't have the repository, and doesn't make it by itself, has it created, and tries again.
func (c *Client) withRepository(ctx context.Context, r Repository, publish func() error) error {
	err := publish()
	if isMissing(err) && c.CreateRepository != nil {
		_, failed := c.created.Do(ctx, r, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.CreateRepository(ctx, r) })
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err = publish() // also where creating it failed: another process may have created it at the same time
		if failed != nil && isMissing(err) {
			err = fmt.Errorf("%w; creating it failed: %w", err, failed)
		}
	}
	if !isMissing(err) {
		return err
	}
	return fmt.Errorf("there is no repository %s, and the registry %s doesn't make repositories by itself: create %s there first, and then try again (%w)",
		r, r.Registry, r.Name, err)
}
