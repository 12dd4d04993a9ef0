;; One session of a person in Emacs, driven in batch. Every step that does not come about ends it with a message.
;; Environment: TRIED_SETUP (docs/editors/emacs/tried.el), TRIED_WORKSPACE, TRIED_NEW_ROW.
;; Run: emacs -q --batch -l session.el (with -Q, a packaged eglot would not be found).
(require 'package)
(package-initialize)
(require 'flymake)
(require 'xref)
(load (getenv "TRIED_SETUP") nil t)
(unless (fboundp 'yaml-mode)
  (define-derived-mode yaml-mode prog-mode "YAML"))
(add-to-list 'auto-mode-alist '("\\.ya?ml\\'" . yaml-mode))
(setq eglot-connect-timeout 20 eglot-sync-connect 20 eglot-autoshutdown nil eglot-send-changes-idle-time 0.05)
(setq-default eglot-workspace-configuration '(:tried (:ranking (:limit 3))))

(defun fail (format-string &rest arguments)
  (princ (concat "FAIL " (apply #'format format-string arguments) "\n"))
  (kill-emacs 1))

(defun expect (name got wanted)
  (unless (equal got wanted) (fail "%s: got %S, expected %S" name got wanted))
  (princ (format "ok %s\n" name)))

(defun messages ()
  (flymake-start)
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(defun step (name condition)
  (let ((end (+ (float-time) 20)) done)
    (while (and (not (setq done (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.02))
    (unless done (fail "%s; diagnostics: %S" name (messages)))
    (princ (format "ok %s\n" name))))

(defun open (file)
  "As a person opens a file; batch Emacs has no command after which eglot would start."
  (switch-to-buffer (find-file-noselect (expand-file-name file (getenv "TRIED_WORKSPACE"))))
  (run-hooks 'post-command-hook)
  (unless (eglot-current-server) (fail "no server for %s" file))
  (flymake-mode 1))

(defun tell-of-edit ()
  (run-hooks 'post-command-hook)
  (eglot--signal-textDocument/didChange))

(defun shown (diagnostic)
  (buffer-substring-no-properties (flymake-diagnostic-beg diagnostic) (flymake-diagnostic-end diagnostic)))

(defun ask (method params) (jsonrpc-request (eglot-current-server) method params :timeout 20))

(setq workspace (file-name-as-directory (file-truename (getenv "TRIED_WORKSPACE"))))

;; 1. A config that repeats a dead end is opened: emoji and Chinese stand before the value on its line.
(open "configs/emoji.yaml")
(expect "the server" (plist-get (eglot--server-info (eglot-current-server)) :name) "tried")
(expect "the root" (file-name-as-directory (file-truename (project-root (eglot--project (eglot-current-server))))) workspace)
(step "a diagnostic" (lambda () (= 1 (length (messages)))))
(let ((found (car (flymake-diagnostics))))
  (expect "the underlined text" (shown found) "1e-2")
  ;; 2. The hover says why, with the breakdown.
  (goto-char (flymake-diagnostic-beg found))
  (let ((hover (plist-get (plist-get (ask :textDocument/hover (eglot--TextDocumentPositionParams)) :contents) :value)))
    (dolist (part '("NaN at step 910" "HYD-005" "lexical" "importance" "score"))
      (unless (string-match-p (regexp-quote part) hover) (fail "the hover lacks %s:\n%s" part hover))))
  (princ "ok the hover\n")
  ;; 3. The value is edited and the finding goes.
  (goto-char (flymake-diagnostic-beg found))
  (delete-region (point) (flymake-diagnostic-end found))
  (insert "3e-3")
  (tell-of-edit))
(step "the finding is gone" (lambda () (null (messages))))
(tried-related)
(expect "the related experiments, as many as the settings say"
        (with-current-buffer "*tried*" (count-lines (point-min) (point-max))) 3)
(switch-to-buffer (get-file-buffer (expand-file-name "configs/emoji.yaml" workspace)))
(set-buffer-modified-p nil)

;; 4. Another is silenced by a code action, with a reason in the file.
(open "configs/bigger_batch.yaml")
(step "another diagnostic" (lambda () (= 1 (length (messages)))))
(let* ((found (car (flymake-diagnostics)))
       (region (list (flymake-diagnostic-beg found) (flymake-diagnostic-end found)))
       (actions (eglot-code-actions (car region) (cadr region)))
       (silence (seq-find (lambda (action) (string-prefix-p "Silence dead-end here" (plist-get action :title))) actions)))
  (unless silence (fail "no action silences it: %S" (mapcar (lambda (action) (plist-get action :title)) actions)))
  (eglot--apply-workspace-edit (plist-get silence :edit))
  (goto-char (point-min))
  (unless (search-forward "# tried: ignore[dead-end]" nil t) (fail "no directive in:\n%s" (buffer-string))))
(tell-of-edit)
(step "it is silent" (lambda () (null (messages))))
(set-buffer-modified-p nil)

;; 5. A config that nobody has run yet. Completion at the learning rate: the best first, what only dead ends had last.
(open "configs/follow_up.yaml")
(goto-char (point-min))
(search-forward "lr: ")
(let* ((capf (eglot-completion-at-point))
       (start (nth 0 capf)) (end (nth 1 capf)) (table (nth 2 capf))
       (metadata (completion-metadata "" table nil))
       (sort (completion-metadata-get metadata 'display-sort-function))
       (values (mapcar #'substring-no-properties (funcall sort (all-completions "" table)))))
  (expect "what completion replaces" (buffer-substring-no-properties start end) "2e-3")
  (expect "the best value first" (car values) "0.001")
  (expect "the value of dead ends alone last" (car (last values)) "0.01"))

;; 6. The id of a run in a comment leads to a page about its record.
(goto-char (point-min))
(search-forward "HYD-00")
(call-interactively #'xref-find-definitions)
(expect "the page of the record" (and (string-match-p "HYD-005" (buffer-name)) t) t)
(unless (search-forward "NaN at step 910" nil t) (fail "the page:\n%s" (buffer-string)))

;; 7. The pool is searched as the symbols of the workspace are.
(switch-to-buffer (get-file-buffer (expand-file-name "configs/follow_up.yaml" workspace)))
(let ((found (mapcar #'xref-item-summary (xref-backend-apropos 'eglot "out of memory"))))
  (unless (seq-some (lambda (name) (string-match-p "HYD-009" name)) found) (fail "found: %S" found))
  (princ (format "ok %s\n" (car found))))

;; 8. The value of the best run is put in the place of another, and counts as a hit.
(goto-char (point-min))
(search-forward "lr: ")
(eglot-code-actions (point) (point) "refactor.rewrite" t)
(unless (looking-at-p (regexp-quote "0.001")) (fail "the value:\n%s" (buffer-string)))
(set-buffer-modified-p nil)

;; 9. It ends when asked to.
(let ((server (eglot-current-server)))
  (eglot-shutdown server)
  (step "the server stopped" (lambda () (not (jsonrpc-running-p server)))))
(princ "done\n")
(kill-emacs 0)
