/// <reference path="../packaging/licenses/text.d.ts" />
import notices from "../THIRD-PARTY-NOTICES.txt" with { type: "text" }

export default notices
