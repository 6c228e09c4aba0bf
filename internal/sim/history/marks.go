package history

import (
	"maps"
	"sync"
)

// Marks counts what does not happen in each history, but has to happen in some: the messages
// of the servers for their operator.
type marks struct {
	mu    sync.Mutex
	count map[string]int
}

func (m *marks) add(mark string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.count == nil {
		m.count = map[string]int{}
	}
	m.count[mark]++
}

func (m *marks) counts() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.count)
}
