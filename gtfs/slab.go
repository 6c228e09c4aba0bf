package gtfs

// A slab keeps many small slices in few allocations.
type slab[T any] struct{ chunk []T }

// extend returns old with more appended. The caller may reuse more, and nothing
// else may use the memory behind old.
func (s *slab[T]) extend(old, more []T) []T {
	if len(old) > 0 {
		return append(old, more...)
	}
	if len(more) > cap(s.chunk)-len(s.chunk) {
		s.chunk = make([]T, 0, max(4096, len(more)))
	}
	start := len(s.chunk)
	s.chunk = append(s.chunk, more...)
	return s.chunk[start:len(s.chunk):len(s.chunk)]
}
