"""`current_time`: the time at a place: an IANA name, a city or a country, also by some of its Chinese names."""

import difflib
import re
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

from pydantic import Field

from common.clock import now
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register

# Zone → names of places there, with those in traditional and simplified Chinese.
ALIASES: dict[str, str] = {
    "UTC": "utc gmt z zulu",
    "Asia/Tokyo": "東京 东京 日本 japan osaka 大阪 kyoto 京都 名古屋 sapporo 札幌 yokohama 橫濱 横滨",
    "Asia/Seoul": "首爾 首尔 漢城 韓國 韩国 korea south_korea busan 釜山",
    "Asia/Shanghai": "北京 beijing peking 上海 中國 中国 china 廣州 广州 guangzhou 深圳 shenzhen 成都 chengdu "
    "杭州 hangzhou 南京 nanjing 武漢 武汉 wuhan 西安 xian 重慶 重庆 天津 tianjin 蘇州 苏州 suzhou",
    "Asia/Hong_Kong": "香港 hongkong",
    "Asia/Macau": "澳門 澳门 macao",
    "Asia/Taipei": "台北 臺北 臺灣 台灣 台湾 taiwan 高雄 kaohsiung 台中 臺中 taichung 台南 臺南 tainan 新竹 hsinchu",
    "Asia/Singapore": "新加坡 星加坡",
    "Asia/Kuala_Lumpur": "吉隆坡 馬來西亞 马来西亚 malaysia",
    "Asia/Bangkok": "曼谷 泰國 泰国 thailand",
    "Asia/Ho_Chi_Minh": "胡志明市 西貢 西贡 hanoi 河內 河内 越南 vietnam",
    "Asia/Jakarta": "雅加達 雅加达",
    "Asia/Manila": "馬尼拉 马尼拉 菲律賓 菲律宾 philippines",
    "Asia/Kolkata": "德里 新德里 delhi new_delhi mumbai 孟買 孟买 bangalore bengaluru 印度 india "
    "chennai 加爾各答 加尔各答",
    "Asia/Dubai": "杜拜 迪拜 abu_dhabi 阿布扎比 阿布達比",
    "Asia/Riyadh": "利雅德 利雅得",
    "Asia/Jerusalem": "耶路撒冷 tel_aviv 特拉維夫 特拉维夫 以色列 israel",
    "Asia/Tehran": "德黑蘭 德黑兰",
    "Asia/Karachi": "卡拉奇",
    "Asia/Dhaka": "達卡 达卡",
    "Asia/Kathmandu": "加德滿都 加德满都",
    "Asia/Ulaanbaatar": "烏蘭巴托 乌兰巴托",
    "Europe/London": "倫敦 伦敦 英國 英国 uk england britain united_kingdom edinburgh manchester",
    "Europe/Paris": "巴黎 法國 法国 france lyon marseille",
    "Europe/Berlin": "柏林 德國 德国 germany munich münchen 慕尼黑 frankfurt 法蘭克福 法兰克福 hamburg 漢堡 汉堡",
    "Europe/Madrid": "馬德里 马德里 西班牙 spain barcelona 巴塞隆納 巴塞罗那",
    "Europe/Rome": "羅馬 罗马 義大利 意大利 italy milan 米蘭 米兰",
    "Europe/Amsterdam": "阿姆斯特丹 荷蘭 荷兰 netherlands",
    "Europe/Brussels": "布魯塞爾 布鲁塞尔",
    "Europe/Vienna": "維也納 维也纳",
    "Europe/Zurich": "蘇黎世 苏黎世 瑞士 switzerland geneva 日內瓦 日内瓦 bern zürich",
    "Europe/Stockholm": "斯德哥爾摩 斯德哥尔摩 瑞典 sweden",
    "Europe/Oslo": "奧斯陸 奥斯陆 挪威 norway",
    "Europe/Copenhagen": "哥本哈根 丹麥 丹麦 denmark",
    "Europe/Helsinki": "赫爾辛基 赫尔辛基 芬蘭 芬兰 finland",
    "Europe/Warsaw": "華沙 华沙 波蘭 波兰 poland",
    "Europe/Prague": "布拉格",
    "Europe/Budapest": "布達佩斯 布达佩斯",
    "Europe/Athens": "雅典 希臘 希腊 greece",
    "Europe/Istanbul": "伊斯坦堡 伊斯坦布尔 土耳其 turkey ankara",
    "Europe/Moscow": "莫斯科 st_petersburg saint_petersburg 聖彼得堡 圣彼得堡",
    "Europe/Kyiv": "基輔 基辅 kiev",
    "Europe/Lisbon": "里斯本 葡萄牙 portugal",
    "Europe/Dublin": "都柏林 愛爾蘭 爱尔兰 ireland",
    "Africa/Cairo": "開羅 开罗 埃及 egypt",
    "Africa/Johannesburg": "約翰尼斯堡 约翰内斯堡 cape_town 開普敦 开普敦 南非 south_africa",
    "Africa/Lagos": "拉哥斯 拉各斯",
    "Africa/Nairobi": "奈洛比 内罗毕",
    "America/New_York": "紐約 纽约 nyc new_york_city washington washington_dc 華盛頓 华盛顿 boston 波士頓 波士顿 "
    "miami 邁阿密 迈阿密 philadelphia 費城 atlanta",
    "America/Chicago": "芝加哥 houston 休士頓 休斯顿 dallas 達拉斯 达拉斯 austin",
    "America/Denver": "丹佛",
    "America/Los_Angeles": "洛杉磯 洛杉矶 la san_francisco 舊金山 旧金山 三藩市 seattle 西雅圖 西雅图 san_diego "
    "聖地牙哥 圣地亚哥 las_vegas 拉斯維加斯 拉斯维加斯 portland",
    "America/Toronto": "多倫多 多伦多 montreal 蒙特婁 蒙特利尔 ottawa 渥太華 渥太华",
    "America/Vancouver": "溫哥華 温哥华",
    "America/Mexico_City": "墨西哥城",
    "America/Sao_Paulo": "聖保羅 圣保罗 são_paulo rio_de_janeiro 里約 里约热内卢",
    "America/Argentina/Buenos_Aires": "布宜諾斯艾利斯 布宜诺斯艾利斯",
    "America/Bogota": "波哥大",
    "America/Lima": "利馬 利马",
    "Pacific/Honolulu": "檀香山 夏威夷 hawaii",
    "Pacific/Auckland": "奧克蘭 奥克兰 wellington 威靈頓 惠灵顿 紐西蘭 新西兰 new_zealand",
    "Australia/Sydney": "雪梨 悉尼 canberra 坎培拉 堪培拉",
    "Australia/Melbourne": "墨爾本 墨尔本",
    "Australia/Brisbane": "布里斯本 布里斯班",
    "Australia/Perth": "珀斯 伯斯",
}


def _normalize(text: str) -> str:
    """Return a name in lower case and with "_" as the only separator."""
    return re.sub(r"[\s_.,'-]+", "_", text.strip().casefold()).strip("_")


@lru_cache(maxsize=1)
def _load_zones() -> dict[str, str]:
    """Return name → zone. Aliases take precedence over the cities in the names of zones, and full names over both."""
    zones = sorted(zone for zone in available_timezones() if not zone.startswith(("posix/", "right/")))
    cities = {
        _normalize(zone.rsplit("/", 1)[-1]): zone for zone in zones if "/" in zone and not zone.startswith("Etc/")
    }
    aliases = {_normalize(name): zone for zone, names in ALIASES.items() for name in names.split()}
    return cities | aliases | {_normalize(zone): zone for zone in zones}


def find_zone(place: str) -> ZoneInfo | None:
    """Return the zone of an IANA name, or of a city or country that is known, or null."""
    name = _normalize(place)
    zones = _load_zones()
    # "Tokyo, Japan": the city is the part before the comma. "東京市": 市 is the word for city.
    key = zones.get(name) or zones.get(_normalize(re.split(r"[,，(（]", place)[0])) or zones.get(name.rstrip("市"))
    return ZoneInfo(key) if key else None


def find_similar_zones(place: str) -> list[str]:
    """Return up to three zones with similar names."""
    names = difflib.get_close_matches(_normalize(place)[:80], _load_zones(), n=3, cutoff=0.75)
    return sorted({_load_zones()[name] for name in names})


@register
class CurrentTime(Tool):
    """The current date and time at a place."""

    name = "current_time"
    effect = "read"
    is_trusted = True

    class Args(ToolArgs):
        timezone: str = Field(
            min_length=1,
            max_length=80,
            description="An IANA time zone such as Asia/Tokyo, or a city such as Tokyo, 東京 or New York.",
        )

    def run(self, ctx: ToolContext, args: Args) -> str:
        zone = find_zone(args.timezone)
        if zone is None:
            similar = find_similar_zones(args.timezone)
            advice = f" Did you mean {' or '.join(similar)}?" if similar else " Use an IANA name such as Europe/Paris."
            raise ToolError(f"There is no time zone or city {args.timezone!r} that I know.{advice}")
        return format_time(now().astimezone(zone), zone.key)


def format_time(moment: datetime, zone: str) -> str:
    """Return a time as ISO date and time, weekday, zone and offset."""
    offset = moment.isoformat(timespec="seconds")[-6:]
    return f"{moment:%Y-%m-%d %H:%M:%S} ({moment:%A}), {zone}, UTC{offset}"
