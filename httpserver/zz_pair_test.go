package httpserver_test
import ("testing";"time";"bytes";"net/http";"fmt";"slices";"runtime"
"github.com/julienschmidt/httprouter"
"github.com/traintravel/traintravel")
func BenchmarkPair(b *testing.B) {
	w, token := benchWorld(b)
	anna := traintravel.Caller{Subject: traintravel.Subject{Issuer: base, ID: "anna"}, Client: "bench"}
	booking, err := w.service.CreateBooking(b.Context(), anna, traintravel.NewBooking{TripID: w.spread(1)[0], PassengerName: "Anna Example"})
	if err != nil { b.Fatal(err) }
	request := []byte("GET /bookings/" + booking.ID.String() + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nAuthorization: Bearer " + token + "\r\n\r\n")
	ours := wires(b, w.server)
	_, length, _ := ours[0].do(request)
	fixed := bytes.Repeat([]byte("x"), length)
	router := httprouter.New()
	router.GET("/bookings/:bookingId", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { _, _ = w.Write(fixed) })
	send := func() []byte { return request }
	l := []load{over(wires(b, router), 200, send), over(ours, 200, send)}
	var m runtime.MemStats
	for _, one := range l { runtime.ReadMemStats(&m); a, n, g := m.TotalAlloc, m.Mallocs, m.NumGC; r := one(b, time.Second); runtime.ReadMemStats(&m); fmt.Printf("bytes %.0f allocs %.1f gcs %d of %.0f live %dMB\n", float64(m.TotalAlloc-a)/r, float64(m.Mallocs-n)/r, m.NumGC-g, r, m.HeapAlloc>>20) }
	for b.Loop() {
		var rs []float64
		for range 60 { x := l[0](b, 200*time.Millisecond); y := l[1](b, 200*time.Millisecond); z := l[0](b, 200*time.Millisecond); rs = append(rs, y*2/(x+z)) }
		slices.Sort(rs)
		fmt.Printf("pairs q1 %.3f median %.3f q3 %.3f\n", rs[15], rs[30], rs[45])
	}
}
