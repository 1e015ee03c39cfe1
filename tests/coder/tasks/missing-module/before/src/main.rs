mod shapes;

fn main() {
    println!("{}", shapes::circle::area(2.0) > 12.0);
}
