from nexau.archs.main_sub.agent_state import AgentState

ORDERS = {7: "two lamps", 8: "a chair"}


def find_order(number: int, region: str, agent_state: AgentState) -> str:
    """Finds an order.

    Args:
        number: The number of the order
        region: The region of the shop
        agent_state: Current execution state (injected automatically)

    Returns:
        What was ordered.
    """
    storage = agent_state.global_storage
    storage.set("asked", storage.get("asked", 0) + 1)
    try:
        return f"{ORDERS[number]} ({region})"
    except KeyError as e:
        return f"Error: there is no order {e}"


def shop_status(base_url: str, api_key: str, global_storage) -> dict:
    return {"shop": base_url, "has_key": bool(api_key), "asked": global_storage.get("asked", 0)}
