/// Returns the area of a circle.
pub fn area(radius: f64) -> f64 {
    std::f64::consts::PI * radius * radius
}
