package resolve

// Mode says how locked versions are treated.
type Mode int

const (
	Normal  Mode = iota // locked versions are kept
	Upgrade             // the newest matching versions are selected, whatever is locked
)
