package traintravel

const movesVersion = 1

func encodeMoves(moves []move) []byte {
	e := newEncoder(movesVersion, 8+8*len(moves))
	e.uint(uint64(len(moves)))
	for _, m := range moves {
		e.uint(uint64(m.train))
		e.int(int64(m.date))
		e.uint(uint64(m.slot))
	}
	return e.b
}

// decodeMoves reads the moves of a timetable of so many trains.
func decodeMoves(b []byte, trains int) ([]move, error) {
	d, _ := newDecoder("moves", movesVersion, b)
	moves := make([]move, d.len(3))
	for i := range moves {
		moves[i] = move{train: int(d.uint()), date: Date(d.int()), slot: int(d.uint())}
		if moves[i].train < 0 || moves[i].train >= trains {
			d.fail()
			moves[i].train = 0
		}
	}
	return moves, d.done()
}
