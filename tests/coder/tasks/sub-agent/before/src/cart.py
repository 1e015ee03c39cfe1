def total(prices):
    return sum(prices) + tax(prices)
