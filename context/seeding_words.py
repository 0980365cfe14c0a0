"""The words of the texts and the names of the facts that `context/seeding.py` makes.

It imports nothing: the scripted model of the tests reads it without Django.
"""

ENGLISH = (
    "the of and to a in is that for it on with as we at by this be have from or but not they you hotel guide train ticket price"
    " deposit group meeting budget report draft client flight room bus dinner museum garden river bridge station contract invoice"
    " partner season winter autumn morning evening week month review plan list change answer question offer number name key box"
    " shelf office door colour menu chef allergy insurance visa passport form letter phone code address street map tour boat lake"
    " temple market shop discount voucher refund delay storm weather snow rain festival music stage poster photo camera film story"
    " page headline editor printer paper ink sign badge desk chair lamp window floor stairs lift garage parking fuel engine wheel"
).split()
CHINESE = (
    "我們 你們 他們 今天 明天 昨天 下週 上個月 飯店 導遊 火車 車票 價格 訂金 團體 會議 預算 報告"
    " 草稿 客戶 航班 房間 巴士 晚餐 博物館 花園 河流 橋樑 車站 合約"
    " 發票 夥伴 季節 冬天 秋天 早上 晚上 檢查 計畫 清單 改變 回答 問題 報價 號碼 名字 鑰匙 箱子"
    " 櫃子 辦公室 門口 顏色 菜單 廚師 過敏 保險 簽證 護照 表格 信件"
    " 電話 密碼 地址 街道 地圖 行程 小船 湖邊 寺廟 市場 商店 折扣 優惠券 退款 延誤 颱風 天氣 下雪"
    " 下雨 節日 音樂 舞台 海報 照片 相機 影片 故事 頁面 標題 編輯"
    " 可以 需要 已經 還是 因為 所以 大家 請問 謝謝 一下 比較 應該 可能 知道 覺得 時候 地方 東西 事情"
).split()
SYLLABLES = "ba den fir gor hal jin kel lor mar nep osh pra quin rol sat tev uld vex wim yor zan".split()
NAMES = (
    "Harbor Cedar Falcon Juniper Marigold Orchid Pelican Quartz Raven Sable Tundra Amber Vesper Willow Yarrow Zephyr Birch Coral"
    " Dahlia Ember Fern Ginger Hazel Iris Lily"
).split()
ZH_NAMES = (
    "海港 雪松 獵鷹 杜松 金盞 蘭花 鵜鶘 石英 渡鴉 黑貂 凍原 琥珀 晚星 柳樹 蓍草 西風 樺木 珊瑚 大麗 餘燼 蕨葉 薑花 榛果 鳶尾 百合"
).split()
