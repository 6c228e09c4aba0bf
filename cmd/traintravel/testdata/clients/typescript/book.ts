// Searches, books, pays and cancels with openapi-fetch and the types that
// openapi-typescript has made.
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const [base, day] = process.argv.slice(2) as [string, string];
const api = createClient<paths>({ baseUrl: base, headers: { Authorization: `Bearer ${process.env.TOKEN}` } });

type Problem = components["schemas"]["Problem"];

function good<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined) throw new Error(`${answer.response.status} ${(answer.error as Problem).detail}`);
  return answer.data;
}

function check(holds: unknown, what: string) {
  if (!holds) throw new Error(what);
}

async function station(search: string): Promise<string> {
  return good(await api.GET("/stations", { params: { query: { search } } })).data[0]!.id;
}

const query = { origin: await station("berlin hbf"), destination: await station("paris gare du nord"), date: day, limit: 3 };
const trip = good(await api.GET("/trips", { params: { query } })).data[0]!;

const body: components["schemas"]["NewBooking"] = { trip_id: trip.id, passenger_name: "Anna Example" };
const header = { "Idempotency-Key": crypto.randomUUID() };
const booking = good(await api.POST("/bookings", { params: { header }, body }));
check(good(await api.POST("/bookings", { params: { header }, body })).id === booking.id, "two bookings");
check(!booking.has_bicycle && booking.links.payment, "not held");

const path = { bookingId: booking.id };
const payment = good(await api.POST("/bookings/{bookingId}/payment", {
  params: { path },
  body: {
    amount: trip.price,
    currency: trip.currency,
    source: { object: "card", name: "Anna Example", number: "4242424242424242", cvc: "123", exp_month: 12, exp_year: 2040, address_country: "DE" },
  },
}));
check(payment.status === "succeeded" && payment.source.object === "card" && payment.source.exp_year === 2040, "not paid");
check(good(await api.GET("/bookings/{bookingId}", { params: { path } })).links.ticket, "no ticket");
check(good(await api.GET("/bookings")).data.some((b) => b.id === booking.id), "not listed");

check((await api.DELETE("/bookings/{bookingId}", { params: { path } })).response.status === 204, "not cancelled");
const payments = good(await api.GET("/bookings/{bookingId}/payments", { params: { path } })).data;
check(payments.some((p) => "refund_of" in p && p.refund_of === payment.id), "no refund");
const gone = await api.GET("/bookings/{bookingId}", { params: { path } });
check(gone.error?.status === 404 && gone.error.type.endsWith("/not-found"), "still there");
console.log(booking.id);
