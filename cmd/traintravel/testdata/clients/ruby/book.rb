# Searches, books, pays and cancels with the client that OpenAPI Generator has made.
require "securerandom"
require "uri"

require "trains"

base, day = ARGV
configuration = Trains::Configuration.new do |c|
  uri = URI(base)
  c.scheme, c.host, c.base_path = uri.scheme, "#{uri.host}:#{uri.port}", uri.path
  c.access_token = ENV.fetch("TOKEN")
end
API = Trains::ApiClient.new(configuration)
bookings = Trains::BookingsApi.new(API)
payments = Trains::PaymentsApi.new(API)

def station(text)
  Trains::StationsApi.new(API).get_stations(search: text).data.first.id
end

found = Trains::TripsApi.new(API).get_trips(station("berlin hbf"), station("paris gare du nord"), day, limit: 3)
trip = found.data.first
raise "no times: #{trip}" unless trip.legs.first.departure_time < trip.arrival_time

wanted = Trains::NewBooking.new(trip_id: trip.id, passenger_name: "Anna Example")
key = SecureRandom.uuid
booking, again = Array.new(2) { bookings.create_booking(wanted, idempotency_key: key) }
raise "two bookings" unless booking.id == again.id
raise "not held: #{booking}" unless booking.links.payment && !booking.has_bicycle

account = Trains::BankAccount.new(object: "bank_account", name: "Anna Example", number: "DE89370400440532013000",
                                  account_type: "individual", bank_name: "Example Bank", country: "DE")
payment = payments.create_booking_payment(
  booking.id, Trains::NewPayment.new(amount: trip.price, currency: trip.currency, source: account)
)
raise "not paid: #{payment}" unless payment.status == "succeeded" && payment.source.number.end_with?("3000")
raise "no ticket" unless bookings.get_booking(booking.id).links.ticket
raise "not listed" unless bookings.get_bookings.data.any? { |b| b.id == booking.id }

bookings.delete_booking(booking.id)
begin
  bookings.get_booking(booking.id)
  raise "still there"
rescue Trains::ApiError => e
  raise unless e.code == 404
end
puts booking.id
