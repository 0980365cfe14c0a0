"""`get_exchange_rates` and `build_budget`: reference rates of central banks by Frankfurter, and a table of costs."""

from collections.abc import Collection, Sequence
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter

from common.clock import now
from system_tools.public_services.client import (
    PublicServiceConfig,
    RequestRefused,
    ServiceAnswer,
    clean_line,
    request_json,
)
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register

FIRST_DATE = date(1999, 1, 4)
"""The first day of the reference rates of the European Central Bank. Older rates are of currencies that are gone."""
MAX_CURRENCIES = 10
MAX_ITEMS = 40
MAX_AMOUNT = 1e10
MAX_QUANTITY = 10_000
MAX_RATE = 1e8
"""With these maxima, all results have fewer digits than a `Decimal` keeps."""
CENT = Decimal("0.01")
SOURCE = (
    "Source: Frankfurter (https://frankfurter.dev), reference rates of central banks; a bank or a card asks for more."
)

Currency = Annotated[str, Field(pattern=r"^[A-Za-z]{3}$"), AfterValidator(str.upper)]


class _Rate(ServiceAnswer):
    date: date
    base: str = Field(pattern=r"^[A-Z]{3}$")
    quote: str = Field(pattern=r"^[A-Z]{3}$")
    rate: float = Field(ge=1 / MAX_RATE, le=MAX_RATE)


async def _request_rates(base: str, quotes: Collection[str], day: date | None, *, seconds: float) -> dict[str, _Rate]:
    """Return what one unit of `base` is worth, by currency. Raises `ToolError`, also if one of the currencies has no rate."""
    params = {"base": base, "quotes": ",".join(quotes)}
    if day is not None:
        params["date"] = day.isoformat()
    try:
        found = await request_json("exchange_rates", "/v2/rates", params, TypeAdapter(list[_Rate]), seconds=seconds)
    except RequestRefused as refusal:
        raise ToolError(
            "The exchange rate service does not know one of these currencies. Use codes of ISO 4217, such as TWD or JPY.",
            is_final=True,
        ) from refusal
    rates = {rate.quote: rate for rate in found if rate.base == base and rate.quote in quotes}
    if missing := [quote for quote in quotes if quote not in rates]:
        raise ToolError(f"There is no rate between {base} and {', '.join(missing)} for this day.", is_final=True)
    return rates


class GetExchangeRates(Tool):
    """Get the exchange rates of a currency, today or on a day in the past, and convert an amount."""

    name = "get_exchange_rates"
    effect = "read"
    Config = PublicServiceConfig

    class Args(ToolArgs):
        base: Currency = Field(description="The currency that is converted, as a code of ISO 4217 such as JPY.")
        quotes: list[Currency] = Field(
            min_length=1, max_length=MAX_CURRENCIES, description="The currencies to convert it into."
        )
        amount: float = Field(default=1, gt=0, le=MAX_AMOUNT, description="How much of it.")
        on_date: date | None = Field(
            default=None, description="A day in the past, as YYYY-MM-DD. Without it: the newest rates."
        )

    async def run(self, ctx: ToolContext, args: Args) -> str:
        today = now().date()
        if args.on_date is not None and not FIRST_DATE <= args.on_date <= today:
            raise ToolError(f"There are rates from {FIRST_DATE} to today, {today}, only.", is_final=True)
        quotes = [quote for quote in dict.fromkeys(args.quotes) if quote != args.base]
        if not quotes:
            raise ToolError(f"{args.base} is the only currency that was named.", is_final=True)
        rates = await _request_rates(args.base, quotes, args.on_date, seconds=ctx.config.timeout_s)
        lines = [_describe_rate(rate) for rate in rates.values()]
        if args.amount != 1:
            amount = Decimal(str(args.amount))
            worth = [f"{_format(_round(amount * _get_factor(rate)))} {quote}" for quote, rate in rates.items()]
            lines.append(f"{_format(amount)} {args.base} = {' = '.join(worth)}")
        return "\n".join([*lines, SOURCE])


class BudgetItem(ToolArgs):
    """One line of a budget."""

    label: str = Field(min_length=1, max_length=80, description="What it is.")
    amount: float = Field(ge=0, le=MAX_AMOUNT, description="The price of one.")
    currency: Currency = Field(description="The currency of the price, such as JPY.")
    quantity: float = Field(default=1, gt=0, le=MAX_QUANTITY, description="How many, such as people × nights.")


@register
class BuildBudget(Tool):
    """Add up costs in one currency, with the newest exchange rates, and compare the total with a limit. It only calculates: find
    the prices first, and say where each is from."""

    name = "build_budget"
    effect = "read"
    # The labels are of the model: a URL in a result does not count as read (SEC9).
    quotes_agents = True
    Config = PublicServiceConfig

    class Args(ToolArgs):
        items: list[BudgetItem] = Field(min_length=1, max_length=MAX_ITEMS)
        currency: Currency = Field(description="The currency of the total, such as TWD.")
        limit: float | None = Field(
            default=None, gt=0, le=MAX_AMOUNT, description="What may be spent, in this currency."
        )
        people: int | None = Field(default=None, ge=1, le=1000, description="The number of people who share the total.")

    async def run(self, ctx: ToolContext, args: Args) -> str:
        others = [code for code in dict.fromkeys(item.currency for item in args.items) if code != args.currency]
        if len(others) > MAX_CURRENCIES:
            raise ToolError(f"A budget has at most {MAX_CURRENCIES} other currencies.", is_final=True)
        rates = await _request_rates(args.currency, others, None, seconds=ctx.config.timeout_s) if others else {}
        lines, total = _build_table(args.items, args.currency, rates)
        lines.append(f"Total: {_format(total)} {args.currency}.")
        if args.people:
            lines.append(f"For each of {args.people} people: {_format(_round(total / args.people))} {args.currency}.")
        if args.limit is not None:
            left = Decimal(str(args.limit)) - total
            verdict = "are left" if left >= 0 else "too much"
            lines.append(f"Limit: {_format(Decimal(str(args.limit)))} {args.currency}; {_format(abs(left))} {verdict}.")
        if rates:
            lines += [*(_describe_rate(rate) for rate in rates.values()), SOURCE]
        return "\n".join(lines)


def _build_table(items: Sequence[BudgetItem], currency: str, rates: dict[str, _Rate]) -> tuple[list[str], Decimal]:
    """Return the lines of a Markdown table, and the total. The lines are rounded, and the total is their sum."""
    lines = [f"| item | price | number | in {currency} |", "|---|---:|---:|---:|"]
    total = Decimal(0)
    for item in items:
        price, quantity = Decimal(str(item.amount)), Decimal(str(item.quantity))
        factor = Decimal(1) if item.currency == currency else 1 / _get_factor(rates[item.currency])
        cost = _round(price * quantity * factor)
        total += cost
        label = clean_line(item.label, 80).replace("|", "/")
        lines.append(f"| {label} | {_format(price)} {item.currency} | {quantity.normalize():f} | {_format(cost)} |")
    return lines, total


def _get_factor(rate: _Rate) -> Decimal:
    return Decimal(str(rate.rate))


def _describe_rate(rate: _Rate) -> str:
    return f"1 {rate.base} = {rate.rate:.6g} {rate.quote} (of {rate.date})"


def _round(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def _format(amount: Decimal) -> str:
    """Return an amount with separators, and with its decimals only if it has some."""
    return f"{amount:,.2f}" if amount % 1 else f"{amount:,.0f}"
