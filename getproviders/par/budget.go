package par

import "sync"

// Budget is an amount that many callers claim parts of. Make one with [NewBudget];
// it is safe for many goroutines.
type Budget struct {
	mu      sync.Mutex
	total   int64
	claimed int64
}

// NewBudget returns a Budget of an amount.
func NewBudget(total int64) *Budget { return &Budget{total: total} }

// Claim takes a part, and returns how much has been claimed in all, and whether
// there was enough. Claims that there wasn't enough for count, too.
func (b *Budget) Claim(part int64) (claimed int64, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.claimed += part
	return b.claimed, b.claimed <= b.total
}
