package getproviders

// PlatformError says for which platform something failed.
type PlatformError struct {
	Platform Platform
	Err      error
}

// Error implements error.
func (e *PlatformError) Error() string { return e.Platform.String() + ": " + e.Err.Error() }

// Code is that of the cause; "" if it has none.
func (e *PlatformError) Code() string { return CodeOf(e.Err) }

// Unwrap returns the cause.
func (e *PlatformError) Unwrap() error { return e.Err }
