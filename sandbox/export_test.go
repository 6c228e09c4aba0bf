package sandbox

import "time"

// At makes the gateway's clock show what now returns.
func (g *Gateway) At(now func() time.Time) *Gateway {
	g.now = now
	return g
}
