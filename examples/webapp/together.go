package main

// mostTogether is how many bookings are held together: an API lets a user hold nine.
const mostTogether = 9
