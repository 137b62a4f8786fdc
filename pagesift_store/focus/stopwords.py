"""Words of a query that say nothing about its topic, by language.

The lists are short on purpose: a word missing here costs little, since a term found on every page weighs
little, while a topic word listed by mistake is lost. So `us` (the country) and `may` (the month) are not
English stop words. Words stand as the tokeniser gives them: folded, and split at apostrophes (`don't` →
`don`, `t`).
"""

from __future__ import annotations

__all__ = ["STOP_WORDS"]

_ENGLISH = """
a about above after again against all also am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each either etc
ever every few for from further had hadn has hasn have haven having he her here hers herself him himself his
how i if in into is isn it its itself just ll m me more most mustn my myself neither no nor not of off on
once only onto or other our ours ourselves out over own per re s same shall she should shouldn since so some
such t than that the their theirs them themselves then there these they this those through till to too
toward towards under until up upon ve very via was wasn we were weren what whatever when where whether which
while who whom whose why will with within without won would wouldn yet you your yours yourself yourselves
"""

_GERMAN = """
aber als am an auch auf aus bei beim bin bis bist da damit dann das dass dein deine dem den der des die dies
diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es euch euer für
gegen hat habe haben hier ich ihr ihre im in ist ja kann kein keine man mein meine mich mir mit muss nach
nicht noch nur ob oder ohne sehr sein seine sich sie sind so soll über um und uns unser unter vom von vor
war waren warum was weil welche welcher welches wenn wer werden wie wir wird wo zu zum zur zwischen
"""

_FRENCH = """
à au aucun aussi autre aux avec avoir c ce ceci cela ces cet cette chez comme comment d dans de des donc
dont du elle elles en entre est et été être eu il ils j je l la le les leur leurs lui m ma mais me mes mon n
ne ni nos notre nous on ont ou où par pas plus pour pourquoi qu quand que quel quelle quelles quels qui quoi
s sa sans se ses si son sont sous sur t ta te tes ton tu un une vers vos votre vous y
"""

_SPANISH = """
a al algo ante antes como con contra cual cuando de del desde donde dos e el él ella ellas ellos en entre
era es esa ese eso esta está este esto ha hasta hay la las le les lo los más me mi mis mucho muy ni no nos o
para pero por porque qué que quien se sea según ser si sí sin sobre son su sus también te tiene tu tus un
una uno unos y ya yo
"""

_ITALIAN = """
a ad agli ai al alla alle allo anche c che chi ci come con cosa cui d da dagli dai dal dalla dalle dallo de
dei degli del dell della delle dello di dove e è ed era essere fra gli ha hanno i il in io l la le lei lo
loro lui ma mi mia mio ne nei nel nella nelle nello noi non nostro o ogni per perché più quale quando quanto
quella quello questa questo se sei si sia sono su sua sul sulla suo tra tu tuo un una uno vi voi
"""

_PORTUGUESE = """
a à ao aos as às até com como da das de dela dele do dos e é ela elas ele eles em entre era essa esse esta
está este eu foi há isso isto já lhe mais mas me meu minha muito na nas não nem no nos nós o os ou para pela
pelas pelo pelos por porque qual quando que quem se sem ser seu seus só sua suas também te tem um uma umas
uns você
"""

_DUTCH = """
aan al als bij dan dat de der deze die dit door een en er ge geen had heb hebben heeft het hij hoe hun ik in
is je kan maar me men met mij mijn naar niet nog nu of om onder ons onze ook op over te tegen tot u uit uw
van veel voor waar waarom wat we wel welke werd wie wij worden wordt zal ze zich zij zijn zo zonder
"""

_SWEDISH = """
alla att av blev bli blir då de dem den denna deras dess det detta dig din du där efter ej eller en ett från
för ha hade han har henne hennes hon hur i icke inte jag kan man med mellan men mig min mot mycket ni nu när
och om oss på sin som så till under upp ut utan vad var vara varför vi vid vilken vilket är över
"""

_DANISH = """
af alle alt at blev blive bliver da de dem den denne der deres det dette dig din du efter eller en er et for
fra ham han har have her hos hun hvad hvem hvis hvor hvorfor hvordan i ikke ind jeg jer kan man med meget
men mig min mod når nogle nu og også om op os over på sig sin skal som til ud under var ved vi vil være
"""

_NORWEGIAN = """
alle at av bare ble bli blir da de deg dem den denne der deres det dette din du eller en er et ett etter for
fra ha hadde han har henne her hos hun hva hvem hvis hvor hvordan hvorfor i ikke inn jeg kan man med meg
mellom men min mot når noen nå og også om opp oss over på seg sin skal som så til under ut var ved vi vil
være
"""

_FINNISH = """
ei että en et he hän ja jo jos joka jotka kanssa kuin kuinka kun me mikä miksi missä miten mitä mutta myös
ne niin nyt oli olla on ovat se sekä sen siitä sillä te tai tämä ja vai vain
"""

_RUSSIAN = """
а без более бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее если есть еще
же за здесь и из или им их к как какая какие какой ко когда кто ли либо мне мы на над не него нет ни но о об
однако он она они оно от по под при с со так такой там то того тоже только тот ты у уже чего чем что чтобы
эта эти это этот я
"""

_POLISH = """
a aby albo ale bez by być był była było co czy dla do gdy gdzie go i ich im jak jaka jaki jakie jako je jego
jej jest już każdy kiedy kto która które który lub ma mnie może my na nad nas nie nich nim o od on ona oni
oraz po pod przez przy się są ta tak także tam te tego tej ten to tu tym w we wszystkie z za ze że
"""

_CZECH = """
a aby ale ani až bez bude být by byl byla bylo co což do i jak jako je jeho její jejich jen ji jsem jsme
jsou k kde kdo kdy když která které který ku má mezi na nad ne nebo není o od po pod podle pro proč proto
protože před při s se si tak také tam ten tento to u už v ve více však z za ze že
"""

_HUNGARIAN = """
a az és hogy nem is egy ez azt ezt de meg csak mint már még vagy van volt ha fel el ki be le mi mit ki kik
hol mikor miért hogyan milyen minden után előtt között szerint ezek azok lesz lehet
"""

_ROMANIAN = """
a acest această ai al ale am ar are așa au ca că care ce cei cel cea cele cine cu cum când dar de din după e
ea ei el ele este eu fi fost în în îi îl într la le lor lui mai ne nu o ori pe pentru prin sau se și sunt
său sa te un una unde unei unui
"""

_TURKISH = """
acaba ama bazı ben bir biz bu bunu çok da daha de değil diye en gibi hem hep her hiç için ile ise kim mi mı
mu mü nasıl ne neden nerede niçin o olan olarak onlar sen siz şu tüm ve veya ya yani
"""

STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(listed.split())
    for code, listed in {
        "cs": _CZECH,
        "da": _DANISH,
        "de": _GERMAN,
        "en": _ENGLISH,
        "es": _SPANISH,
        "fi": _FINNISH,
        "fr": _FRENCH,
        "hu": _HUNGARIAN,
        "it": _ITALIAN,
        "nb": _NORWEGIAN,
        "nl": _DUTCH,
        "nn": _NORWEGIAN,
        "no": _NORWEGIAN,
        "pl": _POLISH,
        "pt": _PORTUGUESE,
        "ro": _ROMANIAN,
        "ru": _RUSSIAN,
        "sv": _SWEDISH,
        "tr": _TURKISH,
    }.items()
}
"""ISO 639-1 code → its stop words, folded. Languages that are absent have none."""
