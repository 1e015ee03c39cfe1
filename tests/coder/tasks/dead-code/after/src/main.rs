mod sum;

fn main() {
    println!("{}", sum::sum(&[1, 2]));
}
