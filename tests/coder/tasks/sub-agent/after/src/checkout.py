def pay(prices):
    return total(prices) * 1.2
