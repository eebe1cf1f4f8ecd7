package oci

import (
	"context"
	"errors"
	"fmt"
)

// RepositoryMissingError says that a registry has no such repository, and doesn't make one by itself.
type RepositoryMissingError struct {
	Repository Repository
	Err        error // what the registry said
}

// Error implements error.
func (e *RepositoryMissingError) Error() string {
	return fmt.Sprintf("there is no repository %s, and the registry %s doesn't make repositories by itself: create %s there first, and then try again (%v)",
		e.Repository, e.Repository.Registry, e.Repository.Name, e.Err)
}

// Unwrap returns the cause.
func (e *RepositoryMissingError) Unwrap() error { return e.Err }

// withRepository has something published, and if its registry doesn't have the repository, has it created, and tries again.
func (c *Client) withRepository(ctx context.Context, r Repository, publish func() error) error {
	err := publish()
	if _, ok := errors.AsType[*RepositoryMissingError](err); !ok || c.CreateRepository == nil {
		return err
	}
	_, failed := c.created.Do(ctx, r, func(ctx context.Context) (struct{}, error) { return struct{}{}, c.CreateRepository(ctx, r) })
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = publish() // also where creating it failed: another process may have created it at the same time
	if missing, ok := errors.AsType[*RepositoryMissingError](err); ok && failed != nil {
		return &RepositoryMissingError{r, fmt.Errorf("%w; creating it failed: %w", missing.Err, failed)}
	}
	return err
}
