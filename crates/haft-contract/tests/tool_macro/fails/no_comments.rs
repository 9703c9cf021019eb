#[haft_contract::tool]
async fn add(a: i64, /** */ b: i64) -> i64 {
    a + b
}

#[doc = concat!("Subtracts", ".")]
#[haft_contract::tool]
async fn subtract() {}

fn main() {}
